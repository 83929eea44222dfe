import { spelling } from '../spelling.js';

/** What is read of a request, to reserve for, limit, filter or route it, as it is spelled `likeThis`. */
export const geminiNames = spelling(
  `model role text thought thoughtSignature cachedContent serviceTier safetySettings labels store
   maxOutputTokens candidateCount responseModalities responseMimeType responseSchema responseJsonSchema stopSequences
   temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs thinkingBudget thinkingLevel
   includeThoughts mediaResolution mimeType data fileUri functionCall response name description parameters
   parametersJsonSchema mode allowedFunctionNames executableCode codeExecutionResult videoMetadata taskType title
   outputDimensionality prompt googleSearch googleSearchRetrieval urlContext codeExecution computerUse`,
  `contents content parts systemInstruction generationConfig thinkingConfig speechConfig voiceConfig prebuiltVoiceConfig
   imageConfig tools functionDeclarations toolConfig functionCallingConfig inlineData fileData functionResponse requests
   instances generateContentRequest embedContentConfig`,
  true,
);

import { spelling } from '../spelling.js';

/** What is read of a request, to reserve for, limit, filter or route it. */
export const openAiNames = spelling(
  `model models fallbacks route provider plugins search_parameters max_search_results enable_search
   web_search enable_enhancement service_tier n best_of max_tokens max_completion_tokens stream
   include_usage prompt suffix input instructions voice role text type url detail data format file_data file_url file_id
   filename name arguments parameters description refusal reasoning_content reasoning_effort reasoning_details thinking_budget
   enable_thinking budget_tokens effort modalities ttl max_uses tool_choice parallel_tool_calls response_format
   stream_format group`,
  `messages content tools functions function tool_calls function_call image_url input_audio video_url file audio
   stream_options thinking reasoning cache_control prompt_cache_options prompt_cache_breakpoint
   web_search_options prediction`,
);

/** The same of a ranking. */
export const rerankNames = spelling(
  `model models fallbacks route provider service_tier stream query top_n return_documents rank_fields text
   max_tokens_per_doc max_chunks_per_doc max_chunk_per_doc overlap_tokens`,
  'documents',
);

/** The same of the Responses interface. */
export const responsesNames = spelling(
  `model models fallbacks route service_tier n max_output_tokens max_tool_calls max_tokens max_completion_tokens
   background store previous_response_id conversation prompt stream instructions role text type url image_url detail
   file_data file_url file_id filename name arguments parameters schema description refusal encrypted_content id
   container container_id environment memory_limit connector_id server_url vector_store_ids result tool_choice
   effort ttl group comparison_response_id compact_threshold search_parameters web_search_options enable_search web_search
   enable_enhancement`,
  `input content output summary tools reasoning stream_options prompt_cache_options prompt_cache_breakpoint
   context_management`,
);

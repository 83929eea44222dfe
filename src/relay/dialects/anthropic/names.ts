import { spelling } from '../spelling.js';

/** What is read of a request, to reserve for, limit, filter or route it. */
export const anthropicNames = spelling(
  `model models fallbacks route max_tokens stream speed service_tier inference_geo anthropic_beta billing_policy
   previous_message_id
   mcp_servers container stop_sequences tool_choice output_format role text type url data file_id media_type name input input_schema
   description max_uses budget_tokens effort ttl signature`,
  'messages content system tools source thinking output_config cache_control thread',
);

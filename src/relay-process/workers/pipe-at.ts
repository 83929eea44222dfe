/** Where a worker has its pipe to the primary, beside the channel that its connections come by. */
export const pipeAt = 4;

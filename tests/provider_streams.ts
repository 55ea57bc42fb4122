// Usage as providers tell it, and streams that tell it last. A text in one of them looks like a usage and is none.

/** Cached tokens are part of the input. */
export const CHAT_USAGE = {
  prompt_tokens: 30,
  completion_tokens: 12,
  total_tokens: 42,
  prompt_tokens_details: { cached_tokens: 20 },
};
export const RESPONSES_USAGE = {
  input_tokens: 30,
  input_tokens_details: { cached_tokens: 8 },
  output_tokens: 11,
  total_tokens: 41,
};
/** What was read from the cache stands beside the input. */
export const MESSAGE_USAGE = {
  input_tokens: 10,
  cache_creation_input_tokens: 20,
  cache_read_input_tokens: 5000,
  output_tokens: 7,
};
export const delta = (content: string): object => ({
  object: "chat.completion.chunk",
  choices: [{ delta: { content } }],
  usage: null,
});
export const CHAT_STREAM: readonly (object | string)[] = [
  delta("hel"),
  delta('"usage":{"total_tokens":9}'),
  { choices: [], usage: CHAT_USAGE },
  "[DONE]",
];
export const RESPONSES_STREAM: readonly (object | string)[] = [
  { type: "response.created", response: { status: "in_progress", usage: null } },
  { type: "response.output_text.delta", delta: "hello" },
  {
    type: "response.completed",
    response: { output: [{ usage: { total_tokens: 1 } }], usage: RESPONSES_USAGE },
  },
];
export const MESSAGE_STREAM: readonly (object | string)[] = [
  { type: "message_start", message: { content: [], usage: { ...MESSAGE_USAGE, output_tokens: 1 } } },
  { type: "content_block_delta", delta: { text: "hello" } },
  {
    type: "message_delta",
    delta: { stop_reason: "end_turn" },
    usage: { output_tokens: 7, cache_creation_input_tokens: null, input_tokens: null },
  },
  { type: "message_stop" },
];

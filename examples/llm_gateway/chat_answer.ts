/** What a chat is answered: so many tokens read, and so many written. */
export interface ChatUse {
  readonly promptTokens: number;
  readonly answerTokens: number;
}

/** Pieces of a streamed answer. */
const PIECES = 4;

function usageOf({ promptTokens, answerTokens }: ChatUse) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: answerTokens,
    total_tokens: promptTokens + answerTokens,
  };
}

/** An answer in one piece, as OpenAI's chat words it (https://platform.openai.com/docs/api-reference/chat/object). */
export function bufferedAnswer(model: string, use: ChatUse): string {
  const message = { role: "assistant", content: `${use.answerTokens} tokens` };
  return JSON.stringify({
    id: "chatcmpl",
    object: "chat.completion",
    model,
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: usageOf(use),
  });
}

/**
 * The events of a streamed answer, with the usage in the last one before the end
 * (https://platform.openai.com/docs/api-reference/chat-streaming).
 */
export function streamedAnswer(model: string, use: ChatUse): string[] {
  const event = (more: object) =>
    `data: ${JSON.stringify({ id: "chatcmpl", object: "chat.completion.chunk", model, ...more })}\n\n`;
  const piece = (index: number) => ({
    index: 0,
    delta: { content: `piece ${index} ` },
    finish_reason: index === PIECES - 1 ? "stop" : null,
  });
  const pieces = Array.from(
    { length: PIECES },
    (_, index) => event({ choices: [piece(index)], usage: null }),
  );
  return [...pieces, `${event({ choices: [], usage: usageOf(use) })}data: [DONE]\n\n`];
}

/** An error in the provider's words (https://platform.openai.com/docs/guides/error-codes). */
export function errorBody(message: string, code: string): string {
  return JSON.stringify({ error: { message, type: code, param: null, code } });
}

// SPDX-License-Identifier: Apache-2.0
/**
 * Encodes the messages between a daemon and a fake kernel in another process: one JSON object per line, with markers for
 * values that JSON does not have.
 */

/**
 * `id` connects answers with their call. From the daemon: "call" (value: port, method and arguments) and "abort", which aborts
 * the signals among the call's arguments. From the kernel: any number of "event"s, then one of "result", "refused"
 * (value: the fields of a HostError) and "broken" (value: a text).
 */
export interface Message {
  readonly kind: "call" | "abort" | "event" | "result" | "refused" | "broken";
  readonly id: number;
  readonly value: unknown;
}

/** Returns one line. `onSignal` is called with each signal in the message. The receiver gets a new signal in its place. */
export function encodeMessage(message: Message, onSignal?: (signal: AbortSignal) => void): string {
  function mark(_key: string, value: unknown): unknown {
    if (value === undefined) return { $: "undefined" };
    if (value instanceof Map) return { $: "map", entries: [...value.entries()] };
    if (!(value instanceof AbortSignal)) return value;
    onSignal?.(value);
    return { $: "signal" };
  }
  return `${JSON.stringify(message, mark)}\n`;
}

/** Parses a line of encodeMessage. Throws for any other line. */
export function decodeMessage(line: string, newSignal: () => AbortSignal): Message {
  function unmark(_key: string, value: unknown): unknown {
    if (!isObject(value) || !("$" in value)) return value;
    if (value["$"] === "signal") return newSignal();
    return value["$"] === "map" && Array.isArray(value["entries"]) ? new Map(value["entries"]) : undefined;
  }
  const message: unknown = JSON.parse(line, unmark);
  if (!isMessage(message)) throw new Error(`not a message of the fake kernel protocol: ${line}`);
  return message;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function isMessage(value: unknown): value is Message {
  return isObject(value) && typeof value["id"] === "number" && typeof value["kind"] === "string";
}

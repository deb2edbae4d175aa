// SPDX-License-Identifier: Apache-2.0
/**
 * What the host and the guest's agent say to each other over the virtio-serial port: one JSON object per line, bytes in
 * base64. Lines, since a guest that is reset cuts one short: the next line break is a place to go on from.
 * Usage: `socket.write(encodeLine({ type: "kill", id: 7, signal: "SIGTERM" }))`
 */

/** Host to guest. `id` is the host's name for a process, never used twice in the life of a guest. */
export type Request =
  | {
      readonly type: "start";
      readonly id: number;
      readonly argv: readonly string[];
      /** Added to the agent's own environment. */
      readonly env: Readonly<Record<string, string>>;
      /** Whether `input` requests follow; else the process reads end of file. */
      readonly input: boolean;
    }
  /** Without `data`: end of input. */
  | { readonly type: "input"; readonly id: number; readonly data?: string }
  /** To the process and all that it started in its process group. */
  | { readonly type: "kill"; readonly id: number; readonly signal: string };

/** Guest to host. */
export type Report =
  /** The agent is there; a second one means that the guest was booted again. */
  | { readonly type: "hello"; readonly bootId: string }
  | { readonly type: "output"; readonly id: number; readonly stream: "stdout" | "stderr"; readonly data: string }
  /** The last word on `id`. As in a shell: 128 + n for one ended by signal n, 127 for one that cannot be started. */
  | { readonly type: "exit"; readonly id: number; readonly code: number };

/** A message as the line that goes over the port. */
export function encodeLine(message: Request | Report): string {
  return `${JSON.stringify(message)}\n`;
}

/** Reads a line from the host; undefined when it is none of ours or cut short. */
export function parseRequest(line: string): Request | undefined {
  const message = parseObject(line);
  if (message === undefined || typeof message.id !== "number") return undefined;
  const { type, id } = message;
  if (type === "start" && isStrings(message.argv) && isEnvironment(message.env) && typeof message.input === "boolean") {
    return { type, id, argv: message.argv, env: message.env, input: message.input };
  }
  if (type === "input") return typeof message.data === "string" ? { type, id, data: message.data } : { type, id };
  if (type === "kill" && typeof message.signal === "string") return { type, id, signal: message.signal };
  return undefined;
}

/** Reads a line from the guest; undefined when it is none of ours or cut short. */
export function parseReport(line: string): Report | undefined {
  const message = parseObject(line);
  if (message === undefined) return undefined;
  const { type, id, bootId, stream, data, code } = message;
  if (type === "hello" && typeof bootId === "string") return { type, bootId };
  if (typeof id !== "number") return undefined;
  if (type === "output" && (stream === "stdout" || stream === "stderr") && typeof data === "string") {
    return { type, id, stream, data };
  }
  return type === "exit" && typeof code === "number" ? { type, id, code } : undefined;
}

function parseObject(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isStrings(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isEnvironment(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && isStrings(Object.values(value));
}

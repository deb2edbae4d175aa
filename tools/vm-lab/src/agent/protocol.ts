// SPDX-License-Identifier: Apache-2.0
/**
 * Defines the protocol between the host and the agent of the guest over the virtio-serial port: one JSON object per line, bytes
 * in base64. A reset of the guest can cut off a line; the receiver continues after the next line break.
 */

/** From the host to the guest. `id` identifies a process and is never reused. */
export type Request =
  | {
      readonly type: "start";
      readonly id: number;
      readonly argv: readonly string[];
      /** Environment variables in addition to those of the agent. */
      readonly env: Readonly<Record<string, string>>;
      /** Whether `input` requests follow. Otherwise the input of the process is empty. */
      readonly input: boolean;
    }
  /** Without `data`, it closes the input. */
  | { readonly type: "input"; readonly id: number; readonly data?: string }
  /** Sends a signal to the process group. */
  | { readonly type: "kill"; readonly id: number; readonly signal: string };

/** From the guest to the host. */
export type Report =
  /** The agent has started. A second "hello" means that the guest has rebooted. */
  | { readonly type: "hello"; readonly bootId: string }
  | { readonly type: "output"; readonly id: number; readonly stream: "stdout" | "stderr"; readonly data: string }
  /** The last report of a process. As in a shell: 128 + n if signal n ended it, 127 if it could not be started. */
  | { readonly type: "exit"; readonly id: number; readonly code: number };

/** Returns a message as one line. */
export function encodeLine(message: Request | Report): string {
  return `${JSON.stringify(message)}\n`;
}

/** Parses a line from the host. Returns undefined if the line is incomplete or not a message. */
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

/** Parses a line from the guest. Returns undefined if the line is incomplete or not a message. */
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

// SPDX-License-Identifier: Apache-2.0
/**
 * Encodes method calls, and splits and decodes received D-Bus messages (D-Bus specification, "Message Protocol").
 */
import { defined } from "@switchyard/api";
import { decodeValues, encodeValues, type DBusValue } from "./wire.ts";

/** A method call. */
export interface MethodCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  /** Types of `body`; absent without arguments. */
  readonly signature?: string;
  readonly body?: readonly DBusValue[];
}

/** A received message. */
export interface Message {
  readonly kind: "call" | "return" | "error" | "signal" | "other";
  /** Serial of the call that this message answers. */
  readonly replySerial?: number;
  readonly interface?: string;
  readonly member?: string;
  readonly errorName?: string;
  readonly body: readonly unknown[];
}

const fields = {
  path: 1,
  interface: 2,
  member: 3,
  errorName: 4,
  replySerial: 5,
  destination: 6,
  signature: 8,
} as const;
const kinds = ["other", "call", "return", "error", "signal"] as const;

/** The specification allows 128 MiB. No answer that is used here has more than a few KiB. */
const maxBytes = 16 << 20;

export function encodeCall(serial: number, call: MethodCall): Buffer {
  const body = encodeValues(call.signature ?? "", call.body ?? []);
  const header: DBusValue[] = [
    [fields.path, { signature: "o", value: call.path }],
    [fields.interface, { signature: "s", value: call.interface }],
    [fields.member, { signature: "s", value: call.member }],
    [fields.destination, { signature: "s", value: call.destination }],
  ];
  if (call.signature !== undefined) header.push([fields.signature, { signature: "g", value: call.signature }]);
  const littleEndian = "l".charCodeAt(0);
  const head = encodeValues("yyyyuua(yv)", [littleEndian, kinds.indexOf("call"), 0, 1, body.length, serial, header]);
  return Buffer.concat([head, Buffer.alloc(paddingTo8(head.length)), body]);
}

/** Takes the first message from the received bytes; undefined if it is not complete. Throws Error if it is malformed. */
export function takeMessage(received: Buffer): { readonly message: Message; readonly rest: Buffer } | undefined {
  if (received.length < 16) return undefined;
  const bigEndian = received.readUInt8() === "B".charCodeAt(0);
  const [, kind, , , bodyLength, , fieldsLength] = decodeValues("yyyyuuu", received.subarray(0, 16), { bigEndian });
  if (typeof kind !== "number" || typeof bodyLength !== "number" || typeof fieldsLength !== "number") return undefined;
  const bodyStart = 16 + fieldsLength + paddingTo8(fieldsLength);
  const end = bodyStart + bodyLength;
  if (end > maxBytes) throw new Error(`message of ${end} bytes`);
  if (received.length < end) return undefined;
  const [, , , , , , header] = decodeValues("yyyyuua(yv)", received.subarray(0, bodyStart), { bigEndian });
  const values = new Map(Array.isArray(header) ? (header as readonly (readonly [number, unknown])[]) : []);
  const signature = textOf(values.get(fields.signature)) ?? "";
  const replySerial = values.get(fields.replySerial);
  const message: Message = {
    kind: kinds[kind] ?? "other",
    ...defined({
      replySerial: typeof replySerial === "number" ? replySerial : undefined,
      interface: textOf(values.get(fields.interface)),
      member: textOf(values.get(fields.member)),
      errorName: textOf(values.get(fields.errorName)),
    }),
    body: decodeValues(signature, received.subarray(bodyStart, end), { bigEndian }),
  };
  return { message, rest: received.subarray(end) };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function paddingTo8(length: number): number {
  return (8 - (length % 8)) % 8;
}

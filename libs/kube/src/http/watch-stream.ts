// SPDX-License-Identifier: Apache-2.0
/** readLines and parseWatchEvent read the body of a watch, which has one JSON object per line. */
import { KubeError } from "./kube-error.ts";
import { isKubeObject, isRecord } from "../kube-object.ts";
import { statusError } from "./status-error.ts";
import type { WatchEvent } from "./transport.ts";

/** Yields the lines of a byte stream. Throws KubeError "ConnectionLost" if the stream ends within a line. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  tried: string,
): AsyncGenerator<string, void, undefined> {
  // Pieces of the current line. They are joined once at its end, since an object can come in thousands of pieces.
  let pieces: Buffer[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let end; (end = chunk.indexOf(newline, from)) >= 0; from = end + 1) {
      pieces.push(chunk.subarray(from, end));
      yield Buffer.concat(pieces).toString("utf8");
      pieces = [];
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from));
  }
  if (pieces.length > 0)
    throw new KubeError(tried, "ConnectionLost", { words: "the connection ended within an object" });
}

/** Throws the KubeError of an ERROR event, or "UnexpectedResponse" if `line` is not a watch event. */
export function parseWatchEvent(line: string, tried: string): WatchEvent {
  const event = parseJson(line, tried);
  if (isRecord(event)) {
    const { type, object } = event;
    if (type === "ERROR") throw statusError(tried, undefined, object);
    if (type === "BOOKMARK" && isRecord(object) && isRecord(object["metadata"])) {
      const { resourceVersion } = object["metadata"];
      if (typeof resourceVersion === "string") return { type, resourceVersion };
    }
    if ((type === "ADDED" || type === "MODIFIED" || type === "DELETED") && isKubeObject(object))
      return { type, object };
  }
  throw new KubeError(tried, "UnexpectedResponse", { words: "the line is not a watch event" });
}

/** Throws KubeError "UnexpectedResponse" if `text` is not JSON. */
export function parseJson(text: string, tried: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without the cause: a SyntaxError quotes the text around the mistake, and the response can be a Secret.
    throw new KubeError(tried, "UnexpectedResponse", { words: "the response is not JSON" });
  }
}

const newline = 0x0a;

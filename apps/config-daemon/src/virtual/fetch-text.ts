// SPDX-License-Identifier: Apache-2.0
/**
 * fetchText gets a small text from the metadata service of a cloud, which is not trusted: time and size are limited, and
 * redirects are not followed.
 */
import { trustPublicAuthorities } from "@switchyard/kube";

export interface FetchOptions {
  readonly method?: "GET" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** The metadata of a machine cannot be read. The message is a sentence with the address and the answer. */
export class MetadataError extends Error {
  override readonly name = "MetadataError";
}

/** An instance with 64 network cards has about 30 KB of metadata. */
const mostBytes = 1 << 20;

/** Rejects with MetadataError only. */
export async function fetchText(
  url: string,
  { method = "GET", headers = {}, timeoutMs }: FetchOptions,
): Promise<string> {
  const failed = (why: string, cause?: unknown) => new MetadataError(`${method} ${url}: ${why}`, { cause });
  const signal = AbortSignal.timeout(timeoutMs);
  if (url.startsWith("https:")) trustPublicAuthorities();
  try {
    const response = await fetch(url, { method, headers, signal, redirect: "manual" });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw failed(`HTTP status ${response.status}`);
    }
    return await readBody(response, () => failed(`the answer is larger than ${mostBytes} bytes`));
  } catch (thrown) {
    if (thrown instanceof MetadataError) throw thrown;
    throw failed(signal.aborted ? `no answer within ${timeoutMs / 1000} s` : reasonOf(thrown), thrown);
  }
}

async function readBody(response: Response, tooLarge: () => Error): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const body: AsyncIterable<Uint8Array> | readonly Uint8Array[] = response.body ?? [];
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** fetch wraps the error of the connection: "fetch failed" with the cause ECONNREFUSED. */
function reasonOf(thrown: unknown): string {
  const cause: unknown = typeof thrown === "object" && thrown !== null && "cause" in thrown ? thrown.cause : undefined;
  for (const each of [cause, thrown]) {
    if (typeof each !== "object" || each === null) continue;
    if ("code" in each && typeof each.code === "string") return each.code;
    if ("message" in each && typeof each.message === "string") return each.message;
  }
  return "the connection failed";
}

// SPDX-License-Identifier: Apache-2.0
/**
 * The server's certificate and key, from files that somebody else replaces (a mounted Secret, cert-manager). The new pair
 * is taken once its two halves belong together: whoever writes one file after the other is never served half, and a
 * certificate that was renewed for the same key is taken too.
 * Usage: `await using pair = await followKeyPair({ files, onChange: (pair) => server.setSecureContext(pair), … });`
 */
import type { KeyPair } from "@switchyard/certificates";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";

export interface KeyPairFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface FollowOptions {
  readonly files: KeyPairFiles;
  /** Time between two looks at the files. */
  readonly intervalMs: number;
  /** Told of each new pair, beginning with the first one. */
  readonly onChange: (pair: KeyPair) => void;
  /** Told why there is no new pair: once for each reason. */
  readonly report: (problem: KeyPairError) => void;
}

/** Why files are no key pair. */
export class KeyPairError extends Error {
  override readonly name = "KeyPairError";
  readonly code: "unreadable" | "malformed" | "mismatched";

  constructor(code: KeyPairError["code"], message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** Reads a pair that belongs together. Rejects with KeyPairError. */
export async function readKeyPair({ certFile, keyFile }: KeyPairFiles): Promise<KeyPair> {
  let pair: KeyPair;
  try {
    const [cert, key] = await Promise.all([readFile(certFile, "utf8"), readFile(keyFile, "utf8")]);
    pair = { cert, key };
  } catch (cause) {
    throw new KeyPairError("unreadable", `read ${certFile} and ${keyFile}`, cause);
  }
  let belongTogether: boolean;
  try {
    belongTogether = new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key));
  } catch (cause) {
    throw new KeyPairError("malformed", `${certFile} or ${keyFile} is not PEM`, cause);
  }
  if (!belongTogether) throw new KeyPairError("mismatched", `${certFile} is of another key than ${keyFile}`);
  return pair;
}

/** Looks at the files from now on until disposed; `first` resolves with the first pair. */
export function followKeyPair({ files, intervalMs, onChange, report }: FollowOptions): AsyncDisposable & {
  readonly first: Promise<KeyPair>;
} {
  const first = Promise.withResolvers<KeyPair>();
  let current: KeyPair | undefined;
  let lastProblem = "";
  let looking = look();

  async function look(): Promise<void> {
    try {
      const pair = await readKeyPair(files);
      lastProblem = "";
      if (pair.cert === current?.cert && pair.key === current.key) return;
      current = pair;
      onChange(pair);
      first.resolve(pair);
    } catch (error) {
      if (!(error instanceof KeyPairError)) throw error;
      if (error.message !== lastProblem) report(error);
      lastProblem = error.message;
    }
  }

  const timer = setInterval(() => {
    looking = looking.then(look);
  }, intervalMs);
  return {
    first: first.promise,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await looking;
    },
  };
}

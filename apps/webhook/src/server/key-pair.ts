// SPDX-License-Identifier: Apache-2.0
/**
 * followKeyPair watches the server's certificate and key in files that another process replaces, such as the kubelet or
 * cert-manager. A new pair is used once the certificate matches the key, so files that are written one after the other are
 * never used half-way. A certificate that was renewed for the same key is used, too.
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
  /** Time between two reads of the files. */
  readonly intervalMs: number;
  /** Called with each new pair, including the first one. */
  readonly onChange: (pair: KeyPair) => void;
  /** Called once for each reason for which the files cannot be used. */
  readonly report: (problem: KeyPairError) => void;
}

/** The files cannot be used as a key pair. */
export class KeyPairError extends Error {
  override readonly name = "KeyPairError";
  readonly code: "unreadable" | "malformed" | "mismatched";

  constructor(code: KeyPairError["code"], message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** Reads a certificate and its key. Rejects with KeyPairError. */
export async function readKeyPair({ certFile, keyFile }: KeyPairFiles): Promise<KeyPair> {
  let pair: KeyPair;
  try {
    const [cert, key] = await Promise.all([readFile(certFile, "utf8"), readFile(keyFile, "utf8")]);
    pair = { cert, key };
  } catch (cause) {
    throw new KeyPairError("unreadable", `cannot read ${certFile} and ${keyFile}`, cause);
  }
  let matches: boolean;
  try {
    matches = new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key));
  } catch (cause) {
    throw new KeyPairError("malformed", `${certFile} or ${keyFile} is not valid PEM`, cause);
  }
  if (!matches)
    throw new KeyPairError("mismatched", `the certificate in ${certFile} does not match the key in ${keyFile}`);
  return pair;
}

/** Reads the files until disposed. `first` resolves with the first pair. */
export function followKeyPair({ files, intervalMs, onChange, report }: FollowOptions): AsyncDisposable & {
  readonly first: Promise<KeyPair>;
} {
  const first = Promise.withResolvers<KeyPair>();
  let current: KeyPair | undefined;
  let lastProblem = "";
  let checking = check();

  async function check(): Promise<void> {
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
    checking = checking.then(check);
  }, intervalMs);
  return {
    first: first.promise,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await checking;
    },
  };
}

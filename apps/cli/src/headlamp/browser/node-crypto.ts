// SPDX-License-Identifier: Apache-2.0
/**
 * What the plugin for Headlamp uses of node:crypto, for browsers: a build replaces that module by this one. A browser has
 * SHA-256 of its own only as a promise.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

interface Hash {
  /** `text` replaces what was given before. */
  update(text: string): Hash;
  digest(encoding: "hex" | "base64"): string;
}

export function createHash(_algorithm: "sha256"): Hash {
  let digest = sha256(new Uint8Array());
  return {
    update(text) {
      digest = sha256(utf8ToBytes(text));
      return this;
    },
    digest: (encoding) => (encoding === "hex" ? bytesToHex(digest) : btoa(String.fromCharCode(...digest))),
  };
}

/** Certificates are in Secrets, which the plugin never reads. */
export function X509Certificate(): never {
  throw new TypeError("certificates cannot be read in a browser");
}

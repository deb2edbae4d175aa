// SPDX-License-Identifier: Apache-2.0
/**
 * Asks an API server for the status of a path, no more: enough to know when it is ready.
 * Usage: `(await probe("https://127.0.0.1:6443/readyz", admin)) === 200`
 */
import { request } from "node:https";
import type { KeyPair } from "./certificates.ts";

/** The HTTP status; undefined when nothing answered within two seconds. */
export function probe(url: string, credentials: KeyPair & { readonly ca: string }): Promise<number | undefined> {
  return new Promise((resolve) => {
    const asked = request(url, { ...credentials, agent: false, timeout: 2_000 }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => {
      resolve(undefined);
    });
    asked.end();
  });
}

// SPDX-License-Identifier: Apache-2.0
/**
 * probe requests a path of an API server and returns only the HTTP status, to find out when the server is ready.
 * Usage: `(await probe("https://127.0.0.1:6443/readyz", admin)) === 200`
 */
import { request } from "node:https";
import type { KeyPair } from "./certificates.ts";

/** Resolves with the HTTP status, or undefined without a response within two seconds. */
export function probe(url: string, credentials: KeyPair & { readonly ca: string }): Promise<number | undefined> {
  return new Promise((resolve) => {
    const sent = request(url, { ...credentials, agent: false, timeout: 2_000 }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("timeout", () => sent.destroy());
    sent.on("error", () => {
      resolve(undefined);
    });
    sent.end();
  });
}

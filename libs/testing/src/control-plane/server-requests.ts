// SPDX-License-Identifier: Apache-2.0
/** Requests to an API server before and between tests, without a client of the product. */
import { request } from "node:https";
import type { KeyPair } from "./certificates.ts";

/**
 * probe requests a path of an API server and returns only the HTTP status, to find out when the server is ready.
 * Resolves with the HTTP status, or undefined without a response within two seconds.
 */
export async function probe(url: string, credentials: KeyPair & { readonly ca: string }): Promise<number | undefined> {
  return (await get(url, credentials))?.status;
}

/** Returns the JSON of a response with status 200; undefined without one within two seconds. */
export async function readJson(url: string, credentials: KeyPair & { readonly ca: string }): Promise<unknown> {
  const response = await get(url, credentials);
  return response?.status === 200 ? JSON.parse(response.body) : undefined;
}

interface Response {
  readonly status: number | undefined;
  readonly body: string;
}

function get(url: string, credentials: KeyPair & { readonly ca: string }): Promise<Response | undefined> {
  return new Promise((resolve) => {
    const sent = request(url, { ...credentials, agent: false, timeout: 2_000 }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        resolve({ status: response.statusCode, body: Buffer.concat(chunks).toString() });
      });
    });
    sent.on("timeout", () => sent.destroy());
    sent.on("error", () => {
      resolve(undefined);
    });
    sent.end();
  });
}

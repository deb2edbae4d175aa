// SPDX-License-Identifier: Apache-2.0
/** ReviewClient sends reviews to a webhook as the API server does: over HTTPS, with persistent connections. */
import { isRecord } from "@switchyard/kube";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { BenchError } from "../harness/run-control.ts";

export interface ReviewAnswer {
  /** Milliseconds from the first byte of the request to the last byte of the answer. */
  readonly ms: number;
  readonly allowed: boolean;
  /** The decision with its reasons, as text. */
  readonly decision: string;
  /** The warnings, which are not part of the decision: the webhook omits those that take too long. */
  readonly warnings: string;
}

export interface ReviewClient extends Disposable {
  /** Rejects with BenchError `refused` if the answer is not an AdmissionReview. */
  ask(path: string, text: string): Promise<ReviewAnswer>;
}

export function createReviewClient(options: {
  readonly port: number;
  readonly ca: string;
  readonly connections: number;
}) {
  const { port, ca, connections } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: connections, ca });
  const client: ReviewClient = {
    async ask(path, text) {
      const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
      const beginMs = performance.now();
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request({ host: "127.0.0.1", port, path, method: "POST", agent, headers }, resolve)
          .once("error", reject)
          .end(text);
      });
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      await once(response, "end");
      const ms = performance.now() - beginMs;
      return { ms, ...readAnswer(response.statusCode ?? 0, Buffer.concat(chunks).toString("utf8")) };
    },
    [Symbol.dispose]() {
      agent.destroy();
    },
  };
  return client;
}

function readAnswer(status: number, body: string): Omit<ReviewAnswer, "ms"> {
  const review: unknown = status === 200 ? JSON.parse(body) : undefined;
  const response = isRecord(review) ? review["response"] : undefined;
  if (!isRecord(response) || typeof response["allowed"] !== "boolean") {
    throw new BenchError("refused", `the webhook answered a review with status ${status}: ${body.slice(0, 500)}`);
  }
  const { allowed, warnings = [], status: why } = response;
  return { allowed, decision: JSON.stringify([allowed, why]), warnings: JSON.stringify(warnings) };
}

// SPDX-License-Identifier: Apache-2.0
/**
 * The HTTPS server that the API server asks (sriov-operator.md E): paths, limits, and an end without a failed review.
 * Every answer is a well-formed AdmissionReview, or a 4xx or 503 with a JSON message.
 * Usage: `await using server = await startReviewServer({ address, tls, keyPair, view, notReady, log, … });`
 */
import { createAdmissionCache, type AdmitOptions, type ClusterView } from "@switchyard/admission";
import type { KeyPair } from "@switchyard/certificates";
import type { ListenAddress, Logger } from "@switchyard/service";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { networkInterfaces } from "node:os";
import type { SecureContextOptions } from "node:tls";
import { answerReview, readReview, type ReviewAnswer, type ReviewRequest } from "./admission-review.ts";
import { parseBody } from "./parse-body.ts";
import { mutate, validate } from "./reviewers.ts";

/** Where each is asked, as upstream has it. */
export const paths = {
  mutate: "/mutating-custom-resource",
  validate: "/validating-custom-resource",
  ready: "/readyz",
} as const;

export interface ReviewServerOptions {
  readonly address: ListenAddress;
  readonly tls: SecureContextOptions;
  readonly keyPair: KeyPair;
  readonly view: () => ClusterView;
  /** Why another replica should be asked, for /readyz; none: this one is as good. */
  readonly notReady: () => readonly string[];
  /** Why reviews cannot be answered now; none: they can. */
  readonly cannotReview: () => readonly string[];
  readonly log: Logger;
  readonly nowMs: () => number;
  /** Told of each review that was answered. */
  readonly onAnswer: (request: ReviewRequest, answer: ReviewAnswer, tookMs: number) => void;
  /** How long reviews are taken after the end has begun, while Services still lead here. */
  readonly lingerMs: number;
}

/** Disposing it answers what is under way and what still comes within lingerMs, then closes. */
export interface ReviewServer extends AsyncDisposable {
  readonly port: number;
  /** Used for connections from now on; those that are there stay. */
  setKeyPair(pair: KeyPair): void;
}

/** An update of our largest objects, with both versions of it. */
const bodyLimit = 3 * 1024 * 1024;

/** From the first byte of a request to its last: the API server gives up after 10 s. */
const requestTimeoutMs = 10_000;

/** Longer than the API server keeps idle connections (90 s): it is the one who closes them, so none dies under a request. */
const keepAliveTimeoutMs = 120_000;

export async function startReviewServer(options: ReviewServerOptions): Promise<ReviewServer> {
  const { address, tls, keyPair, view, notReady, cannotReview, log, nowMs, onAnswer, lingerMs } = options;
  const admitOptions: AdmitOptions = { nowMs, cache: createAdmissionCache() };
  let isEnding = false;

  const server = fastify({
    https: { ...tls, ...keyPair },
    bodyLimit,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    forceCloseConnections: "idle",
    return503OnClosing: false, // who asks in time is answered
    logger: false,
  });

  server.removeAllContentTypeParsers(); // what is no JSON is 415
  server.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    async (_request: FastifyRequest, body: Buffer) => Promise.resolve(body),
  );
  server.addHook("onSend", async (_request, reply) => {
    if (isEnding) reply.header("connection", "close"); // so that clients go elsewhere
    return Promise.resolve();
  });
  server.setNotFoundHandler((request, reply) => {
    void reply.code(404).send({ message: `no ${request.method} here; POST ${paths.mutate} or ${paths.validate}` });
  });
  server.setErrorHandler((error, _request, reply) => {
    const { statusCode = 500 } = isHttpError(error) ? error : {};
    if (statusCode >= 500) log.error({ error }, "review failed");
    const message = statusCode < 500 && error instanceof Error ? error.message : "internal error";
    void reply.code(statusCode).send({ message });
  });
  server.get(paths.ready, (_request, reply) => {
    const reasons = isEnding ? ["stopping"] : notReady();
    const status = reasons.length === 0 ? 200 : 503;
    void reply
      .code(status)
      .type("text/plain; charset=utf-8")
      .send(status === 200 ? "ok\n" : `${reasons.join("\n")}\n`);
  });
  server.post(paths.mutate, answering(mutate));
  server.post(
    paths.validate,
    answering((review) => validate(review, view(), admitOptions)),
  );

  /** Before the caches are in, a verdict would be a guess: 503 makes the API server refuse, or admit if it is told to. */
  function answering(review: (request: ReviewRequest) => ReviewAnswer) {
    return async (request: FastifyRequest, reply: FastifyReply) => {
      const began = nowMs();
      const body = parseBody(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
      const asked = body.ok ? readReview(body.value) : body;
      if (!asked.ok) return reply.code(400).send({ message: asked.error });
      const reasons = cannotReview();
      if (reasons.length > 0) return reply.code(503).send({ message: reasons.join("; ") });
      const answer = review(asked.value);
      onAnswer(asked.value, answer, nowMs() - began);
      return reply.send(answerReview(asked.value, answer));
    };
  }

  await server.listen({ port: address.port, host: address.host || everyAddress() });
  const bound = server.server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : address.port,
    setKeyPair(pair) {
      server.server.setSecureContext({ ...tls, ...pair });
    },
    async [Symbol.asyncDispose]() {
      isEnding = true;
      await new Promise((resolve) => setTimeout(resolve, lingerMs));
      await server.close();
    },
  };
}

/** Of both families, where the machine has both. */
function everyAddress(): string {
  const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === "IPv6"));
  return hasIpv6 ? "::" : "0.0.0.0";
}

function isHttpError(error: unknown): error is { readonly statusCode: number } {
  return typeof error === "object" && error !== null && "statusCode" in error && typeof error.statusCode === "number";
}

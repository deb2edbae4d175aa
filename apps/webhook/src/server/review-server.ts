// SPDX-License-Identifier: Apache-2.0
/**
 * ReviewServer is the HTTPS server that the API server calls (sriov-operator.md E). It limits requests, answers each one
 * with a well-formed AdmissionReview or with a 4xx or 503 and a JSON message, and stops without failing a review. Whoever reaches
 * the port can send requests, so connections, bodies and waiting reviews are bounded, and no client delays others for long.
 */
import { createAdmissionCache, type ClusterView } from "@switchyard/admission";
import type { KeyPair } from "@switchyard/certificates";
import type { ListenAddress, Logger } from "@switchyard/service";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { networkInterfaces } from "node:os";
import type { SecureContextOptions } from "node:tls";
import { answerReview, readReview, type ReviewAnswer, type ReviewRequest } from "../admission-review.ts";
import { ClientConnections } from "./client-connections.ts";
import { FairTurns } from "./fair-turns.ts";
import { parseBody } from "./parse-body.ts";
import { createAdmittedDeletions } from "./admitted-deletions.ts";
import { mutate, validate, type ValidateOptions } from "../review-handlers.ts";

/** The paths of upstream's webhook. */
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
  /** Reasons for /readyz to fail, so that another replica is asked; empty if this replica is ready. */
  readonly notReady: () => readonly string[];
  /** Reports whether reviews are answered below this secret path; "" is no secret path. */
  readonly acceptsPath: (path: string) => boolean;
  /** Reasons for which this review cannot be answered now; empty if it can. */
  readonly cannotReview: (request: ReviewRequest) => readonly string[];
  readonly log: Logger;
  /** A monotonic clock, in milliseconds. */
  readonly nowMs: () => number;
  /** Called after each answered review. */
  readonly onAnswer: (request: ReviewRequest, answer: ReviewAnswer, tookMs: number) => void;
  /** How long reviews are still accepted after disposal has begun, while Services still route to this replica. */
  readonly lingerMs: number;
}

/** Disposal answers pending reviews and those that arrive within lingerMs, then closes the server. */
export interface ReviewServer extends AsyncDisposable {
  readonly port: number;
  /** Applies to new connections. Existing connections keep their certificate. */
  setKeyPair(pair: KeyPair): void;
}

/** Largest object that etcd stores by default (--max-request-bytes). */
const maxObjectBytes = 1.5 * 1024 * 1024;

/** The rest of a review: who made the request, with its groups, and how. */
const envelopeBytes = 64 * 1024;

/** The review of an update contains the object before and after it. */
const bodyLimit = 2 * maxObjectBytes + envelopeBytes;

/** From the first byte of a request to its last one. The API server gives up after 10 s. */
const requestTimeoutMs = 10_000;

/** For the TLS handshake, and then for the head of a request. An API server sends both at once. */
const headTimeoutMs = 5_000;

/** Node's default of 30 s would let a request that must end within 10 s take 40 s. */
const connectionsCheckingIntervalMs = 1_000;

/** API servers keep a few connections each. A connection takes about 60 KB. */
const maxConnections = 256;

/** Reviews of policies and networks are smaller than 64 KiB, so that a flood of large ones does not affect them. */
const connectionLimits = {
  maxConnections: maxConnections - 16, // one is closed before the server refuses a new one
  smallBodyBytes: 64 * 1024,
  largeBodiesBytes: 10 * bodyLimit,
  maxBodyBytes: bodyLimit,
};

/** A review takes up to 0.1 s of CPU time with hundreds of nodes. */
const turnLimits = { maxWaiting: 256, maxWaitingPerClient: 128, maxWaitMs: 5_000 };

const tooMany = "too many requests at once; try again in a few seconds";

/** Longer than the API server keeps idle connections (90 s). The API server closes them, so no request meets a closed one. */
const keepAliveTimeoutMs = 120_000;

export async function startReviewServer(options: ReviewServerOptions): Promise<ReviewServer> {
  const { address, tls, log, nowMs, lingerMs } = options;
  let isStopping = false;
  const server = createServer(options);
  const connections = new ClientConnections(server.server, connectionLimits);
  const turns = new FairTurns({ ...turnLimits, nowMs });
  const refuse = refuseWith(options);
  server.addHook("onRequest", async (request, reply) => {
    if (request.method !== "POST") return undefined;
    if (request.is404 || !options.acceptsPath(secretOf(request))) {
      // The body is not read, so the connection cannot be used again.
      return reply.header("connection", "close").code(404).send(notFound(request));
    }
    reply.raw.once("close", () => {
      connections.endReview(request.raw);
    });
    // Its body is not read, so the connection cannot be used again.
    if (!connections.beginBody(request.raw)) await refuse(reply.header("connection", "close"), tooMany);
    return undefined;
  });
  server.addHook("onSend", async (_request, reply) => {
    if (isStopping) reply.header("connection", "close"); // clients open their next connection to another replica
    return Promise.resolve();
  });
  handleErrors(server, log);
  server.get(paths.ready, (_request, reply) => {
    const reasons = isStopping ? ["stopping"] : options.notReady();
    const status = reasons.length === 0 ? 200 : 503;
    void reply
      .code(status)
      .type("text/plain; charset=utf-8")
      .send(status === 200 ? "ok\n" : `${reasons.join("\n")}\n`);
  });
  const admitOptions: ValidateOptions = {
    nowMs,
    cache: createAdmissionCache(),
    deletions: createAdmittedDeletions(nowMs),
  };
  function serve(path: string, review: (request: ReviewRequest) => ReviewAnswer): void {
    const answer = reviewRoute(review, options);
    const route = async (request: FastifyRequest, reply: FastifyReply) => {
      connections.beginReview(request.raw);
      return (await turns.take(request.ip)) ? answer(request, reply) : refuse(reply, tooMany);
    };
    server.post(path, route);
    server.post(`/:secret${path}`, route);
  }
  serve(paths.mutate, mutate);
  serve(paths.validate, (review) => validate(review, options.view(), admitOptions));

  await server.listen({ port: address.port, host: address.host || anyAddress() });
  const bound = server.server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : address.port,
    setKeyPair(pair) {
      server.server.setSecureContext({ ...tls, ...pair });
    },
    async [Symbol.asyncDispose]() {
      isStopping = true;
      await new Promise((resolve) => setTimeout(resolve, lingerMs));
      await server.close();
    },
  };
}

function notFound({ method }: FastifyRequest): { readonly message: string } {
  return { message: `${method} is not supported on this path` };
}

/** Returns the secret path of a request; "" without one. */
function secretOf({ params }: FastifyRequest): string {
  const secret = typeof params === "object" && params !== null && "secret" in params ? params.secret : "";
  return typeof secret === "string" ? secret : "";
}

/** A server without routes. It accepts bodies of JSON only, and passes them on unparsed. */
function createServer({ tls, keyPair }: ReviewServerOptions) {
  const server = fastify({
    https: {
      ...tls,
      ...keyPair,
      handshakeTimeout: headTimeoutMs,
      headersTimeout: headTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: connectionsCheckingIntervalMs,
    },
    bodyLimit,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    forceCloseConnections: "idle",
    return503OnClosing: false, // requests that arrive before the server is closed are answered
    logger: false,
  });
  server.server.maxConnections = maxConnections;
  server.removeAllContentTypeParsers(); // other content types are answered with 415
  server.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    async (_request: FastifyRequest, body: Buffer) => Promise.resolve(body),
  );
  return server;
}

function handleErrors(server: ReturnType<typeof createServer>, log: Logger): void {
  server.setNotFoundHandler((request, reply) => {
    void reply.code(404).send(notFound(request));
  });
  server.setErrorHandler((error, request, reply) => {
    const { statusCode = 500 } = isHttpError(error) ? error : {};
    const isAborted = request.raw.destroyed && !request.raw.complete; // the client closed the connection, or took too long
    if (statusCode >= 500 && !isAborted) log.error({ error }, "review failed");
    const message = statusCode < 500 && error instanceof Error ? error.message : "internal error";
    void reply.code(statusCode).send({ message });
  });
}

/** Returns a function that answers with 503, and logs it once in ten seconds with the number of such answers. */
function refuseWith({ log, nowMs }: Pick<ReviewServerOptions, "log" | "nowMs">) {
  const intervalMs = 10_000;
  let numRefused = 0;
  let loggedMs = -Infinity;
  return (reply: FastifyReply, message: string) => {
    numRefused++;
    if (nowMs() - loggedMs >= intervalMs) {
      log.warn({ numRefused }, "too many requests; some were refused with status 503");
      loggedMs = nowMs();
      numRefused = 0;
    }
    return reply.code(503).header("retry-after", "1").send({ message });
  };
}

/**
 * Before the caches are synced the result would be a guess. The 503 makes the API server refuse or admit the change, as the
 * failurePolicy of the registration says.
 */
function reviewRoute(
  review: (request: ReviewRequest) => ReviewAnswer,
  { nowMs, cannotReview, onAnswer }: Pick<ReviewServerOptions, "nowMs" | "cannotReview" | "onAnswer">,
) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const startedMs = nowMs();
    const body = parseBody(Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0));
    const reviewRequest = body.ok ? readReview(body.value) : body;
    if (!reviewRequest.ok) return reply.code(400).send({ message: reviewRequest.error });
    const reasons = cannotReview(reviewRequest.value);
    if (reasons.length > 0) return reply.code(503).send({ message: reasons.join("; ") });
    const answer = review(reviewRequest.value);
    onAnswer(reviewRequest.value, answer, nowMs() - startedMs);
    return reply.send(answerReview(reviewRequest.value, answer));
  };
}

/** Listens on IPv6 and IPv4 if the machine has IPv6. */
function anyAddress(): string {
  const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === "IPv6"));
  return hasIpv6 ? "::" : "0.0.0.0";
}

function isHttpError(error: unknown): error is { readonly statusCode: number } {
  return typeof error === "object" && error !== null && "statusCode" in error && typeof error.statusCode === "number";
}

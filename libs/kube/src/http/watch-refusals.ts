// SPDX-License-Identifier: Apache-2.0
/**
 * watchRefusals tells /readyz that the API server refuses each request of this process. Its token is not valid any
 * longer, its rights are gone, or the server has a certificate that the process does not trust. Watches that are open
 * do not show this, and caches count as fresh for minutes.
 * Usage: `const { transport, problems } = watchRefusals(await connect({}), systemClock)`.
 */
import { systemClock, type Clock } from "../clock.ts";
import { isKubeError, type KubeError } from "./kube-error.ts";
import type { Transport, WatchEvent, WatchRequest } from "./transport.ts";

/** Time after which refusals count, and their least number. A process can have few requests, and rights that it need not have. */
const lasting = { ms: 20_000, count: 3 };

export interface WatchedTransport {
  /** Disposing it disposes the given transport. */
  readonly transport: Transport;
  /** Returns one sentence if each request of the last 20 seconds was refused; otherwise nothing. */
  readonly problems: () => readonly string[];
}

/** A connection that is lost is no refusal: processes work on with their caches while the API server is away. */
export function watchRefusals(transport: Transport, clock: Clock = systemClock): WatchedTransport {
  let refused: { readonly sinceMs: number; readonly count: number; readonly message: string } | undefined;

  function ended(error?: unknown): void {
    if (error === undefined) refused = undefined;
    else if (isRefusal(error)) {
      const { sinceMs = clock.nowMs(), count = 0 } = refused ?? {};
      refused = { sinceMs, count: count + 1, message: error.message };
    } else if (isKubeError(error) && error.status !== undefined) refused = undefined; // another answer
  }

  async function* watch(request: WatchRequest): AsyncGenerator<WatchEvent> {
    const onOpen = (): void => {
      ended();
      request.onOpen?.();
    };
    try {
      for await (const event of transport.watch({ ...request, onOpen })) {
        ended();
        yield event;
      }
    } catch (error) {
      ended(error);
      throw error;
    }
  }

  return {
    transport: {
      namespace: transport.namespace,
      get serverHost() {
        return transport.serverHost;
      },
      get serverPort() {
        return transport.serverPort;
      },
      async request(request) {
        try {
          const answer = await transport.request(request);
          ended();
          return answer;
        } catch (error) {
          ended(error);
          throw error;
        }
      },
      watch,
      [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
    },
    problems() {
      const ms = refused === undefined ? 0 : clock.nowMs() - refused.sinceMs;
      if (refused === undefined || ms < lasting.ms || refused.count < lasting.count) return [];
      return [`the API server has refused each request for ${Math.round(ms / 1000)} s: ${refused.message}`];
    },
  };
}

/** Codes of Node for a certificate that is not trusted or not valid now. */
const certificateCodes = /^(CERT_|ERR_TLS_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/;

function isRefusal(error: unknown): error is KubeError {
  if (!isKubeError(error)) return false;
  if (error.status === 401 || error.status === 403 || error.code === "BadConfig") return true;
  return error.status === undefined && certificateCodes.test(codeOfCause(error.cause));
}

/** Returns the code of the first cause that has one; "" if none has. */
function codeOfCause(cause: unknown): string {
  if (typeof cause !== "object" || cause === null) return "";
  if ("code" in cause && typeof cause.code === "string" && certificateCodes.test(cause.code)) return cause.code;
  return "cause" in cause ? codeOfCause(cause.cause) : "";
}

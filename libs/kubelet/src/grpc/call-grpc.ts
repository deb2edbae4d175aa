// SPDX-License-Identifier: Apache-2.0
/**
 * callGrpc makes one call on a Unix socket, on a connection of its own.
 * Usage: `await callGrpc(methods.register, registration, { path, timeoutMs: 10_000, signal });`
 */
import { Client, credentials, type MethodDefinition } from "@grpc/grpc-js";

export interface GrpcTarget {
  /** Path of the socket. */
  readonly path: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** As many pods as a node can have, with all their devices. */
const maxResponseBytes = 16 << 20;

/** Rejects with a ServiceError, whose `code` is one of grpc.status: UNAVAILABLE without a server, DEADLINE_EXCEEDED. */
export async function callGrpc<Request, Response>(
  method: MethodDefinition<Request, Response>,
  request: Request,
  { path, timeoutMs, signal }: GrpcTarget,
): Promise<Response> {
  const client = new Client(`unix:${path}`, credentials.createInsecure(), {
    "grpc.max_receive_message_length": maxResponseBytes,
    "grpc.enable_channelz": 0,
    "grpc.use_local_subchannel_pool": 1, // the state of a socket that was deleted is not remembered
  });
  try {
    return await new Promise<Response>((resolve, reject) => {
      const call = client.makeUnaryRequest(
        ...([method.path, method.requestSerialize, method.responseDeserialize, request] as const),
        { deadline: Date.now() + timeoutMs },
        (error, response) => {
          if (error !== null) reject(error);
          else if (response === undefined) reject(new Error(`${method.path}: no response`));
          else resolve(response);
        },
      );
      signal.addEventListener("abort", () => {
        call.cancel();
      });
      if (signal.aborted) call.cancel();
    });
  } finally {
    client.close();
  }
}

// SPDX-License-Identifier: Apache-2.0
/**
 * grpcMethod describes a method of a gRPC service by its name and the codecs of its messages, which are written by hand: the APIs of
 * the kubelet have a dozen small messages.
 * Usage: `const register = grpcMethod("/v1beta1.Registration/Register", encodeRegistration, () => undefined);`
 */
import type { MethodDefinition } from "@grpc/grpc-js";

/** Encodes or decodes a message. A decoder throws ProtobufError. */
export interface Codec<Message> {
  readonly encode: (message: Message) => Buffer;
  readonly decode: (bytes: Buffer) => Message;
}

/** A message without fields. */
export type Empty = Readonly<Record<string, never>>;

export const empty: Codec<Empty> = { encode: () => Buffer.alloc(0), decode: () => ({}) };

/** Returns the method with one request and one response, or a stream of responses. */
export function grpcMethod<Request, Response>(
  path: string,
  request: Codec<Request>,
  response: Codec<Response> & { readonly isStream?: boolean },
): MethodDefinition<Request, Response> {
  return {
    path,
    requestStream: false,
    responseStream: response.isStream === true,
    requestSerialize: request.encode,
    requestDeserialize: request.decode,
    responseSerialize: response.encode,
    responseDeserialize: response.decode,
  };
}

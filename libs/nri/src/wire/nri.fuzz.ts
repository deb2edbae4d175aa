// SPDX-License-Identifier: Apache-2.0
/** What a container runtime sends to a plugin: frames, calls, and the messages in them. */
import { catchDocumented, refuseSecret, requireEqual, fuzzSecret, type FuzzTarget } from "@switchyard/testing/fuzz";
import { MessageWriter } from "@switchyard/kubelet";
import { NriError } from "../nri-error.ts";
import { decodeConfigure, decodePodRequest, decodeStateChange, decodeSynchronize } from "../nri-messages.ts";
import { connectionIds, createDemultiplexer, encodeMultiplexed } from "./multiplexer.ts";
import {
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  receiveRequests,
  receiveResponses,
} from "./ttrpc.ts";

function isNriError(error: unknown): boolean {
  if (!(error instanceof NriError)) return false;
  refuseSecret(error.message);
  return true;
}

/** Returns what the chunks contain. */
function receive(chunks: readonly Buffer[]): readonly unknown[] {
  const received: unknown[] = [];
  const take = createDemultiplexer(
    new Map([
      [connectionIds.plugin, receiveRequests((stream, message) => received.push([stream, requestIn(message)]))],
      [connectionIds.runtime, receiveResponses((stream, message) => received.push([stream, decodeResponse(message)]))],
    ] as const),
  );
  for (const chunk of chunks) take(chunk);
  return received;
}

function requestIn(message: Buffer): unknown {
  const request = decodeRequest(message);
  for (const decode of [decodeConfigure, decodePodRequest, decodeStateChange, decodeSynchronize]) {
    catchDocumented(() => decode(request.payload), isNriError);
  }
  return request;
}

const sandbox = new MessageWriter()
  .text(1, "id")
  .text(2, "pod")
  .text(3, "uid")
  .text(4, "ns")
  .message(6, new MessageWriter().text(1, "k8s.v1.cni.cncf.io/networks").text(2, fuzzSecret))
  .message(8, new MessageWriter().message(5, new MessageWriter().text(1, "network").text(2, "/run/netns/a")));
const call = (method: string, payload: Buffer): Buffer =>
  encodeRequest(1, { service: "nri.pkg.api.v1alpha1.Plugin", method, payload, timeoutMs: 2_000 });
const answer = encodeResponse(1, { payload: Buffer.from("a"), error: { code: 2, message: "no" } });

export const targets: readonly FuzzTarget[] = [
  {
    name: "nri-frames",
    seeds: [
      encodeMultiplexed(connectionIds.plugin, call("RunPodSandbox", new MessageWriter().message(1, sandbox).finish())),
      encodeMultiplexed(
        connectionIds.plugin,
        call("Synchronize", new MessageWriter().message(1, sandbox).number(3, 1).finish()),
      ),
      encodeMultiplexed(
        connectionIds.plugin,
        call("StateChange", new MessageWriter().number(1, 1).message(2, sandbox).finish()),
      ),
      encodeMultiplexed(connectionIds.runtime, answer),
    ],
    run(input) {
      const whole = catchDocumented(() => receive([input]), isNriError);
      const bytes = Array.from(input.subarray(0, 2_048), (_, at) => input.subarray(at, at + 1));
      const split = catchDocumented(() => receive([...bytes, input.subarray(2_048)]), isNriError);
      requireEqual("frames as a whole and byte by byte", "value" in whole, "value" in split);
      if ("value" in whole && "value" in split)
        requireEqual("messages as a whole and byte by byte", whole.value, split.value);
    },
  },
];

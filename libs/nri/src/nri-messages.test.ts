// SPDX-License-Identifier: Apache-2.0
/** The messages and frames are those of containerd's own packages: testdata/ORIGIN.md. */
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  decodeConfigure,
  decodePodRequest,
  decodeStateChange,
  decodeSynchronize,
  encodeConfigureAnswer,
  encodeRegistration,
  encodeSynchronizeAnswer,
  pluginService,
  runtimeService,
} from "./nri-messages.ts";
import { connectionIds, createDemultiplexer, encodeMultiplexed } from "./wire/multiplexer.ts";
import {
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  receiveRequests,
  receiveResponses,
  statusCodes,
  type TtrpcRequest,
} from "./wire/ttrpc.ts";

interface Vector {
  readonly call: string;
  readonly request: string;
  readonly response: string;
}

const vectors = JSON.parse(readFileSync(join(import.meta.dirname, "../testdata/vectors.json"), "utf8")) as Vector[];
const nothing = Buffer.alloc(0);

const web = {
  id: "0af1",
  name: "web-0",
  uid: "1b2c",
  namespace: "apps",
  annotations: new Map([["example.com/key", "value"]]),
  networkNamespace: "/var/run/netns/cni-1",
};
const agent = { id: "0af2", name: "agent", uid: "1b2d", namespace: "apps", annotations: new Map() };

function vector(call: string): { readonly request: Buffer; readonly response: string } {
  const found = vectors.find((each) => each.call === call);
  if (found === undefined) throw new Error(`no vector ${call}`);
  return { request: Buffer.from(found.request, "hex"), response: found.response };
}

/** Returns the request in the bytes of the runtime, given in pieces of this length, and the id of its stream. */
function receive(bytes: Buffer, pieceLength: number): TtrpcRequest & { readonly stream: number } {
  const requests: (TtrpcRequest & { readonly stream: number })[] = [];
  const requestsOf = receiveRequests((stream, message) => {
    requests.push({ ...decodeRequest(message), stream });
  });
  const take = createDemultiplexer(new Map([[connectionIds.plugin, requestsOf]]));
  for (let at = 0; at < bytes.length; at += pieceLength) take(bytes.subarray(at, at + pieceLength));
  const [request] = requests;
  if (request === undefined || requests.length > 1) throw new Error(`${requests.length} requests`);
  return request;
}

describe("the registration", () => {
  const { request, response } = vector("RegisterPlugin");

  it("is that of containerd's package, and so is its answer", () => {
    const payload = encodeRegistration({ name: "example", index: "50" });
    const call = encodeRequest(1, { service: runtimeService, method: "RegisterPlugin", payload, timeoutMs: 0 });
    expect(encodeMultiplexed(connectionIds.runtime, call)).toEqual(request);

    const answers: unknown[] = [];
    const responses = receiveResponses((stream, message) => answers.push([stream, decodeResponse(message)]));
    createDemultiplexer(new Map([[connectionIds.runtime, responses]]))(Buffer.from(response, "hex"));
    expect(answers).toEqual([[1, { payload: nothing }]]);
  });
});

describe("a request of containerd's package", () => {
  const synchronize = ({ payload }: TtrpcRequest) => decodeSynchronize(payload);
  const pod = ({ payload }: TtrpcRequest) => decodePodRequest(payload);

  it.each([
    {
      call: "Configure",
      decode: ({ payload }: TtrpcRequest): unknown => decodeConfigure(payload),
      message: { name: "containerd", version: "v2.4.2", requestTimeoutMs: 2_000, nriVersion: "v0.12.0" },
      answer: { payload: encodeConfigureAnswer() },
    },
    {
      call: "Synchronize, first part",
      decode: synchronize,
      message: { pods: [web], more: true },
      answer: { payload: encodeSynchronizeAnswer({ more: true }) },
    },
    {
      call: "Synchronize, last part",
      decode: synchronize,
      message: { pods: [agent], more: false },
      answer: { payload: encodeSynchronizeAnswer({ more: false }) },
    },
    {
      call: "RunPodSandbox",
      decode: pod,
      message: web,
      answer: { payload: nothing, error: { code: statusCodes.unknown, message: "no network" } },
    },
    { call: "StopPodSandbox", decode: pod, message: web, answer: { payload: nothing } },
    { call: "RemovePodSandbox", decode: pod, message: web, answer: { payload: nothing } },
    {
      call: "StateChange",
      decode: ({ payload }: TtrpcRequest): unknown => decodeStateChange(payload),
      message: { event: 1, pod: web },
      answer: { payload: nothing },
    },
    {
      call: "Shutdown",
      decode: ({ payload }: TtrpcRequest) => payload,
      message: nothing,
      answer: { payload: nothing },
    },
  ])("is read, and the answer is the same: $call", ({ call, decode, message, answer }) => {
    const { request, response } = vector(call);
    for (const pieceLength of [1, 7, request.length]) {
      const received = receive(request, pieceLength);
      expect([received.service, received.method, received.timeoutMs]).toEqual([pluginService, call.split(",")[0], 0]);
      expect(decode(received)).toEqual(message);
      const frame = encodeMultiplexed(connectionIds.plugin, encodeResponse(received.stream, answer));
      expect(frame.toString("hex")).toBe(response);
    }
  });
});

describe("bytes that are no requests", () => {
  it("end in an NriError of a known code, which quotes nothing", () => {
    const codes = new Set(["MALFORMED", "MALFORMED_PAYLOAD", "TOO_LONG", "UNKNOWN_STREAM"]);
    const { request } = vector("RunPodSandbox");
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(request.length - 1), fc.nat(255)), { maxLength: 6 }), (changes) => {
        const bytes = Buffer.from(request);
        for (const [at, byte] of changes) bytes[at] = byte;
        try {
          const take = createDemultiplexer(
            new Map([
              [
                connectionIds.plugin,
                receiveRequests((_stream, message) => decodePodRequest(decodeRequest(message).payload)),
              ],
            ]),
          );
          take(bytes);
        } catch (error) {
          expect(codes).toContain((error as { code?: string }).code);
          expect(String(error)).not.toMatch(/web-0|apps|0af1/);
        }
      }),
      { numRuns: 400 },
    );
  });

  it.each([
    { what: "a frame of the multiplexer with more than 4 MiB", hex: "0000000100400100", code: "TOO_LONG" },
    { what: "a frame of ttrpc with more than 4 MiB", hex: "000000010000000a00400001000000010100", code: "TOO_LONG" },
    { what: "a connection that does not exist", hex: "0000000700000001ff", code: "UNKNOWN_STREAM" },
    { what: "a part of a stream", hex: "000000010000000a00000000000000010300", code: "MALFORMED" },
    { what: "a stream with an even id", hex: "000000010000000a00000000000000020100", code: "MALFORMED" },
  ])("refuses $what", ({ hex, code }) => {
    const take = createDemultiplexer(new Map([[connectionIds.plugin, receiveRequests(() => undefined)]]));
    expect(() => {
      take(Buffer.from(hex, "hex"));
    }).toThrow(expect.objectContaining({ code }));
  });
});

describe("encodeMultiplexed", () => {
  it("cuts long answers into frames that fit into the buffer of the runtime's reader", () => {
    const answer = Buffer.alloc(10_000, 1);
    const bodies: Buffer[] = [];
    const bytes = encodeMultiplexed(connectionIds.plugin, answer);
    createDemultiplexer(new Map([[connectionIds.plugin, (body) => bodies.push(body)]]))(bytes);
    expect(bodies.map(({ length }) => length)).toEqual([4096, 4096, 1808]);
    expect(Buffer.concat(bodies)).toEqual(answer);
  });
});

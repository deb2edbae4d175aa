// SPDX-License-Identifier: Apache-2.0
/**
 * The bytes are those of k8s.io/kubelet 0.36.3 and google.golang.org/protobuf 1.36.12, by proto.MarshalOptions{Deterministic: true}
 * (2026-11-28).
 */
import { describe, expect, it } from "@jest/globals";
import type { MethodDefinition } from "@grpc/grpc-js";
import { draHealthMethods } from "./dra-health-messages.ts";
import { draPluginMethods } from "./dra-messages.ts";
import { pluginRegistrationMethods } from "./registration-messages.ts";

const device = {
  requests: ["nic", "nic/sub"],
  pool: "worker-1",
  device: "0000-3b-00-2",
  cdiDevices: ["example.com/vf=0000:3b:00.2"],
};
const health = { pool: "worker-1", device: "0000-3b-00-2", atSeconds: 1_700_000_000, timeoutSeconds: 120 };

const { nodePrepareResources, nodeUnprepareResources } = draPluginMethods;
const { getInfo, notifyRegistrationStatus } = pluginRegistrationMethods;

interface Vector {
  readonly what: string;
  readonly hex: string;
  readonly message: unknown;
  readonly encode: (message: never) => Buffer;
  readonly decode: (bytes: Buffer) => unknown;
}

function request<Message>(
  what: string,
  method: MethodDefinition<Message, never>,
  hex: string,
  message: Message,
): Vector {
  return { what, hex, message, encode: method.requestSerialize, decode: method.requestDeserialize };
}

function response<Message>(
  what: string,
  method: MethodDefinition<never, Message>,
  hex: string,
  message: Message,
): Vector {
  return { what, hex, message, encode: method.responseSerialize, decode: method.responseDeserialize };
}

describe("the messages of drivers", () => {
  it.each([
    request(
      "claims",
      nodePrepareResources as unknown as MethodDefinition<readonly object[], never>,
      "0a0c0a026e73120275311a0263310a0c0a026e73120275321a026332",
      [
        { namespace: "ns", uid: "u1", name: "c1" },
        { namespace: "ns", uid: "u2", name: "c2" },
      ],
    ),
    response(
      "prepared claims",
      nodePrepareResources as unknown as MethodDefinition<never, ReadonlyMap<string, object>>,
      "0a4b0a02753112450a430a036e69630a076e69632f7375621208776f726b65722d311a0c303030302d33622d30302d32221b6578616d706c652e636f6d2f76663d303030303a33623a30302e320a0a0a027532120412026e6f",
      new Map<string, object>([
        ["u1", { devices: [device] }],
        ["u2", { error: "no" }],
      ]),
    ),
    response(
      "unprepared claims",
      nodeUnprepareResources as unknown as MethodDefinition<never, ReadonlyMap<string, string | undefined>>,
      "0a060a02753112000a0a0a02753212040a026e6f",
      new Map([
        ["u1", undefined],
        ["u2", "no"],
      ]),
    ),
    response(
      "health",
      draHealthMethods.nodeWatchResources as unknown as MethodDefinition<never, readonly object[]>,
      "0a300a180a08776f726b65722d31120c303030302d33622d30302d3210021880e2cfaa0620782a0a6e6f20636172726965720a240a180a08776f726b65722d31120c303030302d33622d30302d3310011880e2cfaa062078",
      [
        { ...health, health: "unhealthy", message: "no carrier" },
        { ...health, device: "0000-3b-00-3", health: "healthy", message: "" },
      ],
    ),
    response(
      "a registration",
      getInfo as unknown as MethodDefinition<never, object>,
      "0a09445241506c7567696e120b6578616d706c652e636f6d1a112f706c7567696e732f6472612e736f636b220c76312e445241506c7567696e221a7631616c706861312e4452415265736f757263654865616c7468",
      {
        type: "DRAPlugin",
        name: "example.com",
        endpoint: "/plugins/dra.sock",
        supportedVersions: ["v1.DRAPlugin", "v1alpha1.DRAResourceHealth"],
      },
    ),
    request(
      "a refused registration",
      notifyRegistrationStatus as unknown as MethodDefinition<object, never>,
      "12026e6f",
      {
        isRegistered: false,
        error: "no",
      },
    ),
    request(
      "a registration that succeeded",
      notifyRegistrationStatus as unknown as MethodDefinition<object, never>,
      "0801",
      {
        isRegistered: true,
        error: "",
      },
    ),
  ])("are those of the kubelet: $what", ({ hex, message, encode, decode }) => {
    expect(encode(message as never).toString("hex")).toBe(hex);
    expect(decode(Buffer.from(hex, "hex"))).toEqual(message);
  });
});

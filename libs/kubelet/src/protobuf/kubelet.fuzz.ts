// SPDX-License-Identifier: Apache-2.0
/** The messages of the kubelet, for every codec that reads one. */
import type { FuzzTarget } from "@switchyard/testing/fuzz";
import { devicePluginMethods, registerMethod } from "../device-plugin-messages.ts";
import { draHealthMethods } from "../dra/dra-health-messages.ts";
import { draPluginMethods } from "../dra/dra-messages.ts";
import { pluginRegistrationMethods } from "../dra/registration-messages.ts";
import { allocatableResourcesMethod, listPodResourcesMethod } from "../pod-resources-messages.ts";
import { heldDevicesIn, holdersIn } from "../read-devices.ts";
import { MessageWriter } from "./protobuf.ts";

const methods = [
  registerMethod,
  ...Object.values(devicePluginMethods),
  ...Object.values(draHealthMethods),
  ...Object.values(draPluginMethods),
  ...Object.values(pluginRegistrationMethods),
  allocatableResourcesMethod,
];

function isMalformed(error: unknown): boolean {
  return error instanceof Error && error.name === "ProtobufError";
}

function decodeAll(input: Buffer): void {
  for (const { requestDeserialize, responseDeserialize } of methods) {
    for (const decode of [requestDeserialize, responseDeserialize]) {
      try {
        JSON.stringify(decode(input));
      } catch (error) {
        if (!isMalformed(error)) throw error;
      }
    }
  }
}

function decodePods(input: Buffer): void {
  try {
    const pods = listPodResourcesMethod.responseDeserialize(input);
    heldDevicesIn("openshift.io", pods);
    holdersIn(pods);
  } catch (error) {
    if (!isMalformed(error)) throw error;
  }
}

const message = (): MessageWriter => new MessageWriter();
const devices = message().text(1, "openshift.io/fast").texts(2, ["0000:3b:02.0", "0000:3b:02.1"]);
const claim = message().text(2, "c").message(4, message().text(2, "d").text(3, "p").text(4, "0000-3b-02-1"));
const pod = message()
  .text(1, "p")
  .text(2, "n")
  .message(3, message().text(1, "c").message(2, devices).message(5, claim));

export const targets: readonly FuzzTarget[] = [
  { name: "kubelet-pods", seeds: [message().message(1, pod).message(1, pod).finish()], run: decodePods },
  {
    name: "kubelet-messages",
    seeds: [
      message().text(1, "a").text(2, "b").text(3, "c").number(4, 1).finish(),
      message()
        .message(1, message().texts(1, ["a", "b"]).texts(2, ["a"]).number(3, 2))
        .finish(),
      message()
        .message(1, message().text(1, "a").message(2, message().text(1, "b").text(2, "c")))
        .finish(),
    ],
    run: decodeAll,
  },
];

// SPDX-License-Identifier: Apache-2.0
/**
 * parseObservations reads what the program in a pod has printed. The text comes from a node, so everything in it is checked: a line
 * that is no observation is left out.
 */
import { isJsonObject, type JsonObject } from "../json.ts";
import type { EchoResult, FoundInterface, Observation, TargetObservation } from "./observation.ts";

export function parseObservations(log: string): readonly Observation[] {
  return log.split("\n").flatMap((line) => parseLine(line) ?? []);
}

function parseLine(line: string): Observation | undefined {
  const value = parseJson(line);
  if (!isJsonObject(value)) return undefined;
  switch (value["kind"]) {
    case "interface":
      return {
        kind: "interface",
        names: textsIn(value, "names"),
        ...member("found", foundIn(value["found"])),
        vfioGroups: textsIn(value, "vfioGroups"),
        rdmaDevices: textsIn(value, "rdmaDevices"),
        hasUverbs: value["hasUverbs"] === true,
        ...member("rdmaMode", modeIn(value["rdmaMode"])),
      };
    case "heard": {
      const [pod, network] = [textIn(value, "pod"), textIn(value, "network")];
      return pod === undefined || network === undefined ? undefined : { kind: "heard", pod, network };
    }
    case "target":
      return targetIn(value);
    case "done":
      return { kind: "done" };
    default:
      return undefined;
  }
}

function targetIn(value: JsonObject): TargetObservation | undefined {
  const [pod, small, full] = [textIn(value, "pod"), echoIn(value["small"]), echoIn(value["full"])];
  if (pod === undefined || small === undefined || full === undefined) return undefined;
  return {
    kind: "target",
    pod,
    small,
    full,
    ...member("routeInterface", textIn(value, "routeInterface")),
    ...member("neighbour", neighbourIn(value["neighbour"])),
    ...member("throughputMbps", numberIn(value, "throughputMbps")),
    ...member("throughputError", textIn(value, "throughputError")),
  };
}

function foundIn(value: unknown): FoundInterface | undefined {
  if (!isJsonObject(value)) return undefined;
  const [mac, mtu] = [textIn(value, "mac"), numberIn(value, "mtu")];
  if (mac === undefined || mtu === undefined) return undefined;
  const [isUp, hasCarrier] = [value["isUp"] === true, value["hasCarrier"] === true];
  return { mac: mac.toLowerCase(), mtu, isUp, hasCarrier, addresses: textsIn(value, "addresses") };
}

function echoIn(value: unknown): EchoResult | undefined {
  if (!isJsonObject(value)) return undefined;
  const [bytes, sent, received] = [numberIn(value, "bytes"), numberIn(value, "sent"), numberIn(value, "received")];
  if (bytes === undefined || sent === undefined || received === undefined) return undefined;
  const fragmented = numberIn(value, "fragmented") ?? 0;
  return { bytes, sent, received, fragmented, ...member("error", textIn(value, "error")) };
}

function neighbourIn(value: unknown): TargetObservation["neighbour"] {
  const mac = isJsonObject(value) ? textIn(value, "mac") : undefined;
  if (mac === undefined || !isJsonObject(value)) return undefined;
  return { mac: mac.toLowerCase(), isComplete: value["isComplete"] === true };
}

function modeIn(value: unknown): "shared" | "exclusive" | undefined {
  return value === "shared" || value === "exclusive" ? value : undefined;
}

/** A member that is left out if it is undefined. */
function member<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return (value === undefined ? {} : { [key]: value }) as { [K in Key]?: Value };
}

function textIn(value: JsonObject, key: string): string | undefined {
  const text = value[key];
  return typeof text === "string" ? text : undefined;
}

function numberIn(value: JsonObject, key: string): number | undefined {
  const number = value[key];
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

function textsIn(value: JsonObject, key: string): readonly string[] {
  const list = value[key];
  return Array.isArray(list) ? list.filter((entry) => typeof entry === "string") : [];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

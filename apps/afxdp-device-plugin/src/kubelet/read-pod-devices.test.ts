// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { PodDevices } from "@switchyard/kubelet";
import { devicesOfCaller, heldDevices } from "./read-pod-devices.ts";

const resourceName = "afxdp/intel";

function pod(name: string, namespace: string, ...containers: readonly (readonly string[])[]): PodDevices {
  return {
    name,
    namespace,
    // The kubelet lists the devices of a resource in several parts.
    containers: containers.map((ids) => ({ name: "c", devices: ids.map((id) => ({ resourceName, ids: [id] })) })),
  };
}

describe("devicesOfCaller", () => {
  const pods = [pod("app", "one", ["a"]), pod("app", "two", ["b", "c"], ["d"]), pod("other", "one", ["e"])];

  it("decides by the device between pods with the same name in several namespaces", () => {
    const find = (podName: string, id: string) =>
      devicesOfCaller(pods, { podName, device: { id, name: `${id}0` }, resourceName });
    expect(find("app", "b")).toEqual({ namespace: "two", name: "app", devices: ["b", "c"] });
    expect(find("app", "a")).toEqual({ namespace: "one", name: "app", devices: ["a"] });
    expect([find("app", "e"), find("other", "a"), find("", "a"), find("app", "z")]).toEqual(Array(4).fill(undefined));
  });

  it("knows a device by its name, which was its id in earlier versions", () => {
    const device = { id: "0000:86:00.0", name: "a" };
    expect(devicesOfCaller(pods, { podName: "app", device, resourceName })?.devices).toEqual(["a"]);
  });

  it("ignores other resources", () => {
    const device = { id: "a", name: "a" };
    expect(devicesOfCaller(pods, { podName: "app", device, resourceName: "afxdp/other" })).toBeUndefined();
    expect([...heldDevices(pods, resourceName)].sort()).toEqual(["a", "b", "c", "d", "e"]);
  });

  it.each([
    { does: "the host name of a long name", said: "x".repeat(63) },
    { does: "what DPDK can send of it", said: "x".repeat(54) },
  ])("knows $does", ({ said }) => {
    const long = [pod("x".repeat(80), "one", ["a"])];
    const find = (podName: string) => devicesOfCaller(long, { podName, device: { id: "a", name: "a" }, resourceName });
    expect(find(said)?.name).toBe("x".repeat(80));
    expect(find("x".repeat(20))).toBeUndefined();
  });
});

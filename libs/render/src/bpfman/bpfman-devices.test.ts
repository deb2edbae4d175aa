// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import type { AfxdpNetworkNodeState, Node } from "@switchyard/api";
import { bpfmanDevices, isDeviceOnHost, mayReturn } from "./bpfman-devices.ts";
import { bpfmanObjectName, renderBpfmanObject } from "./bpfman-objects.ts";

type State = Pick<AfxdpNetworkNodeState, "spec" | "status">;

const nic = "0000:86:00.0";
const withSubfunctions: State = {
  spec: {
    interfaces: [{ pciAddress: nic, name: "ens1f0", mode: "subfunction", poolName: "sfs", numSfs: 2 }],
    pools: [{ name: "sfs", mode: "subfunction" }],
  },
  status: {
    interfaces: [
      {
        pciAddress: nic,
        name: "ens1f0",
        subfunctions: [
          { sfNumber: 4, name: "ens1f0s4", poolName: "sfs" },
          { sfNumber: 7, name: "foreign" },
        ],
      },
    ],
  },
};
const primary = (status: object, pool: object = {}): State => ({
  spec: {
    interfaces: [{ pciAddress: nic, name: "ens1f0", mode: "primary", poolName: "fast" }],
    pools: [{ name: "fast", mode: "primary", ...pool }],
  },
  status: { interfaces: [{ pciAddress: nic, ...status }] },
});

describe("bpfmanDevices", () => {
  it("returns devices and the subfunctions of a pool, by their keys", () => {
    expect(bpfmanDevices(primary({ name: "ens1f0" }))).toEqual([
      { device: nic, poolName: "fast", interfaceName: "ens1f0" },
    ]);
    expect(bpfmanDevices(withSubfunctions)).toEqual([
      { device: `${nic}/sf/4`, poolName: "sfs", interfaceName: "ens1f0s4" },
    ]);
  });

  it("has no interface for a device in a pod, or with a name that is none", () => {
    for (const status of [{}, { name: "../x" }, { name: "two words" }]) {
      expect(bpfmanDevices(primary(status))).toEqual([{ device: nic, poolName: "fast", interfaceName: undefined }]);
    }
  });

  it("leaves out pools whose pods load their own programs", () => {
    expect(bpfmanDevices(primary({ name: "ens1f0" }, { udsServer: false }))).toEqual([]);
    expect(bpfmanDevices(primary({ name: "ens1f0" }, { udsServer: false, bpfMapPinning: true }))).toHaveLength(1);
  });
});

describe("mayReturn", () => {
  it("is true for a subfunction as long as subfunctions of its device are missing", () => {
    expect(mayReturn(`${nic}/sf/5`, withSubfunctions)).toBe(true);
    const { spec } = withSubfunctions;
    const both = { sfNumber: 4, poolName: "sfs" };
    const status = { interfaces: [{ pciAddress: nic, subfunctions: [both, { ...both, sfNumber: 6 }] }] };
    expect(mayReturn(`${nic}/sf/5`, { ...(spec && { spec }), status })).toBe(false);
    expect(mayReturn(nic, withSubfunctions)).toBe(false);
  });
});

it("isDeviceOnHost follows the names that the node reports", () => {
  expect(isDeviceOnHost(nic, primary({ name: "ens1f0" }))).toBe(true);
  expect(isDeviceOnHost(nic, primary({}))).toBe(false);
  expect(isDeviceOnHost(`${nic}/sf/4`, withSubfunctions)).toBe(true);
});

describe("renderBpfmanObject", () => {
  const node: Node = {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "worker-1.example.com", labels: { "kubernetes.io/hostname": "worker-1" } },
  };
  const target = { node, device: nic, interfaceName: "ens1f0" };
  const image = { url: "registry.example.com/xdp:1", imagePullSecret: { name: "pull", namespace: "bpfman" } };

  it("selects the node by its host name, and has an image with its defaults in the words of each release", () => {
    const settings = { priority: 5, program: { functionName: "xdp_prog", image } };
    expect(renderBpfmanObject("ClusterBpfApplication", target, settings)).toMatchObject({
      kind: "ClusterBpfApplication",
      spec: {
        nodeSelector: { matchLabels: { "kubernetes.io/hostname": "worker-1" } },
        byteCode: { image: { ...image, imagePullPolicy: "IfNotPresent" } },
        programs: [{ name: "xdp_prog", xdp: { links: [{ priority: 5, proceedOn: ["Pass", "DispatcherReturn"] }] } }],
      },
    });
    expect(renderBpfmanObject("XdpProgram", target, settings)).toMatchObject({
      kind: "XdpProgram",
      spec: {
        bpffunctionname: "xdp_prog",
        priority: 5,
        proceedon: ["pass", "dispatcher_return"],
        bytecode: { image: { url: image.url, imagepullpolicy: "IfNotPresent", imagepullsecret: { name: "pull" } } },
      },
    });
  });

  it("has a name that is unique, and short enough for the value of a label", () => {
    const names = [nic, "0000:86:00.1", `${nic}/sf/4`, "Veth_0.1@x"].flatMap((device) =>
      ["a", "a.b", `${"long-".repeat(40)}a`, `${"long-".repeat(40)}b`].map((name) => bpfmanObjectName(name, device)),
    );
    expect(new Set(names).size).toBe(16);
    for (const name of names) expect(name).toMatch(/^[a-z0-9]([-a-z0-9]{0,61})[a-z0-9]$/);
  });
});

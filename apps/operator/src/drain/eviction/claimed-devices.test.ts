// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { KubeError, type Transport, type TransportRequest } from "@switchyard/kube";
import { createCluster, nic } from "../../testing/cluster.ts";
import { createClaimedDevices } from "./claimed-devices.ts";
import { pod } from "../testing/drain-cluster.ts";

const never = new AbortController().signal;
const nics = "nics.example.com";
const gpus = "gpus.example.com";
const pf = nic({ numVfs: 1, Vfs: [{ pciAddress: "0000:3b:02.0", vfID: 0 }] });
const foreign = nic({ pciAddress: "0000:01:00.0" });

/** PCI addresses by device name. */
type Published = Readonly<Record<string, string>>;

interface Scene {
  /** Driver and device of each claim, by name. */
  readonly claims?: Readonly<Record<string, readonly [driver: string, device: string]>>;
  /** Devices of each slice, by "driver node". */
  readonly slices?: Readonly<Record<string, Published>>;
  readonly isServed?: boolean;
}

/** Two nodes with the same NICs, and an API server with these claims in "apps". */
function setUp({ claims = {}, slices = {}, isServed = true }: Scene) {
  const requests: string[] = [];
  const cluster = createCluster();
  for (const node of ["w1", "w2"]) cluster.setState(node, { spec: {}, status: { interfaces: [pf, foreign] } });

  function answer({ path, query }: TransportRequest): unknown {
    const [, claim] = /\/namespaces\/apps\/resourceclaims\/(.+)$/.exec(path) ?? [];
    if (claim === undefined)
      return { metadata: { resourceVersion: "1" }, items: listSlices(`${query?.["fieldSelector"]}`) };
    const found = claims[claim];
    if (found === undefined) {
      const details = isServed ? { name: claim, kind: "resourceclaims" } : undefined;
      throw new KubeError(`GET ${path}`, "NotFound", { status: 404, details });
    }
    const [driver, device] = found;
    return { status: { allocation: { devices: { results: [{ driver, pool: "w1", device, request: "a" }] } } } };
  }

  function listSlices(selector: string): readonly object[] {
    const [field, value] = selector.split("=");
    return Object.entries(slices).flatMap(([place, devices]) => {
      const [driver = "", nodeName = ""] = place.split(" ");
      if (value !== (field === "spec.driver" ? driver : nodeName)) return [];
      const rows = Object.entries(devices).map(([name, string]) => ({ name, attributes: { pciAddress: { string } } }));
      const spec = { driver, nodeName, pool: { name: nodeName }, devices: rows };
      return [{ metadata: { name: place }, spec }];
    });
  }

  const transport: Transport = {
    namespace: "default",
    async request(request) {
      await Promise.resolve();
      requests.push(`${request.path.split("/").at(-1) ?? ""} ${String(request.query?.["fieldSelector"] ?? "")}`.trim());
      return answer(request);
    },
    async *watch() {
      await Promise.reject(new Error("nothing is watched"));
      yield* [];
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const devices = createClaimedDevices({ transport, states: cluster.states });
  const holders = async (...names: readonly string[]) => {
    const pods = names.map((name) => pod(name, { claims: [name] }));
    const resolved = await devices.resolve("w1", pods, never);
    return resolved.flatMap(({ name, holdsVfs }) => (holdsVfs ? [name] : []));
  };
  return { ...devices, cluster, requests, holders };
}

describe("createClaimedDevices", () => {
  it("finds pods whose claimed device has the address of a VF", async () => {
    const { holders } = setUp({
      claims: { vf: [nics, "vf-0"], gpu: [gpus, "gpu-0"], port: [nics, "foreign"] },
      slices: {
        [`${nics} w1`]: { "vf-0": "0000:3b:02.0", foreign: foreign.pciAddress },
        [`${gpus} w1`]: { "gpu-0": "0000:99:00.0" },
      },
    });
    // The daemon does not change a NIC that no policy selects and that has no VFs.
    expect(await holders("vf", "gpu", "port")).toEqual(["vf"]);
  });

  it("sends no request if no pod has a claim, and reads each claim once for a drain", async () => {
    const { resolve, forget, holders, requests } = setUp({
      claims: { vf: [nics, "vf-0"] },
      slices: { [`${nics} w1`]: { "vf-0": "0000:3b:02.0" } },
    });
    const plain = [pod("plain"), pod("holder", { holdsVfs: true, claims: ["vf"] })];
    expect(await resolve("w1", plain, never)).toBe(plain);
    expect(requests).toEqual([]);
    for (const _ of [1, 2]) expect(await holders("vf")).toEqual(["vf"]);
    expect(requests).toEqual(["vf", "resourceslices spec.nodeName=w1"]);
    forget("w1");
    expect(await holders("vf")).toEqual(["vf"]);
    expect(requests.length).toBe(4);
  });

  it("assumes VFs if the node's slices are gone and the driver publishes NICs on other nodes", async () => {
    const { holders, requests } = setUp({
      claims: { vf: [nics, "vf-0"], gpu: [gpus, "gpu-0"] },
      slices: { [`${nics} w2`]: { "vf-0": "0000:3b:02.0" }, [`${gpus} w2`]: { "gpu-0": "0000:99:00.0" } },
    });
    expect(await holders("vf", "gpu")).toEqual(["vf"]);
    expect(requests.slice(2)).toEqual([
      ...[
        "resourceslices spec.nodeName=w1",
        `resourceslices spec.driver=${nics}`,
        `resourceslices spec.driver=${gpus}`,
      ],
    ]);
  });

  it("assumes VFs if the claim is gone, and none if the API server does not serve claims", async () => {
    expect(await setUp({}).holders("gone")).toEqual(["gone"]);
    expect(await setUp({ isServed: false }).holders("gone")).toEqual([]);
  });
});

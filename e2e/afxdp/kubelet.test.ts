// SPDX-License-Identifier: Apache-2.0
/**
 * Tests afxdp-device-plugin with a real kubelet that starts late and restarts: the kubelet knows the devices, and gives one to each of
 * two pods.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { missingForNamespaces } from "@switchyard/netlink/testing";
import { eventually } from "@switchyard/testing";
import { disposeOf } from "../src/dispose-of.ts";
import { createPluginNode, type PluginNode } from "./plugin-node.ts";
import { createRealKubelet, kubeletDirectory, type RealKubelet } from "./real-kubelet.ts";

const resource = "afxdp/intel";
const within = { withinMs: 180_000 };
const ids = ["v0", "v1"];

interface Held {
  readonly name: string;
  readonly containers: readonly { readonly devices: readonly { readonly ids: readonly string[] }[] }[];
}

(missingForNamespaces() === undefined ? describe : describe.skip)("the real kubelet", () => {
  let node: PluginNode;
  let kubelet: RealKubelet;
  beforeAll(async () => {
    node = await createPluginNode({ kubeletDirectory });
    kubelet = await createRealKubelet(node);
  }, 900_000);
  afterAll(async () => {
    await disposeOf(kubelet, node);
  }, 60_000);

  const pool = {
    name: "intel",
    hasSocket: true,
    hasPinnedMap: false,
    idleTimeoutMs: 0,
    uid: 1500,
    requiresUnprivilegedBpf: false,
    devices: ids.map((id) => ({ id, name: id, key: id, queues: 1 })),
  };
  const known = (): Promise<boolean> =>
    eventually(
      "the kubelet has registered the devices",
      async () => JSON.stringify(await kubelet.registered(resource)) === JSON.stringify(ids),
      within,
    );
  const devicesOf = async (pod: string): Promise<readonly string[]> => {
    const pods = (await node.ask({ list: true })) as readonly Held[];
    const own = pods.filter(({ name }) => name.startsWith(pod));
    return own.flatMap(({ containers }) => containers.flatMap(({ devices }) => devices.flatMap((list) => list.ids)));
  };

  it("learns the devices of a plugin that started before it, and again after a restart", async () => {
    expect(await node.ask({ pools: [pool] })).toMatchObject([{ announced: 2, healthy: 2 }]);
    kubelet.start();
    await known();
    await kubelet.stop();
    await kubelet.forget();
    expect(await kubelet.registered(resource)).toBeUndefined();
    kubelet.start();
    await known();
  }, 400_000);

  it("gives two pods one device each, with its XDP program, and remembers that over a restart", async () => {
    await kubelet.addPod("one", resource);
    await kubelet.addPod("two", resource);
    const given = (): Promise<readonly string[]> =>
      eventually(
        "both pods have a device",
        async () => {
          const found = [...(await devicesOf("one")), ...(await devicesOf("two"))];
          return found.length === 2 ? found : undefined;
        },
        within,
      );
    const before = await given();
    expect([...before].sort()).toEqual(ids);
    for (const id of ids) expect(await node.host.run("ip", "-d", "link", "show", id)).toContain("name switchyard_xsk");
    await kubelet.stop();
    kubelet.start();
    await known();
    await eventually(
      "the kubelet lists the same devices",
      async () => {
        const listed = await devicesOf("one");
        return listed[0] === before[0];
      },
      within,
    );
  }, 400_000);
});

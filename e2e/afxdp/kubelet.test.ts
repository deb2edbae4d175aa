// SPDX-License-Identifier: Apache-2.0
/**
 * Tests afxdp-device-plugin with a real kubelet that starts late and restarts: the kubelet knows the devices, and gives one to each of
 * two pods.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createHoldersReader, createPodResources, createPodUids } from "@switchyard/kubelet";
import { missingForNamespaces } from "@switchyard/netlink/testing";
import { eventually } from "@switchyard/testing";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
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

  it("gives two pods one device each, with its XDP program, has their uids in its files, and remembers that over a restart", async () => {
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
    // The files of this kubelet have the form that the config daemon expects.
    const path = join(node.host.root, kubeletDirectory);
    const podUids = createPodUids({ kubeletDirectory: path, logDirectory: join(node.host.root, "var/log/pods") });
    const podResources = createPodResources({ path: join(path, "pod-resources/kubelet.sock") });
    const holders = createHoldersReader({ podResources, podUids });
    const uids = await eventually(
      "the pods have uids",
      async () => {
        const { byId } = await holders.read(new AbortController().signal);
        const found = ids.flatMap((id) => byId.get(id)?.flatMap(({ uid }) => uid ?? []) ?? []);
        return found.length === 2 ? found : undefined;
      },
      within,
    );
    expect((await readdir(join(path, "pods"))).sort()).toEqual([...uids].sort());
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

// SPDX-License-Identifier: Apache-2.0
/**
 * createCniPods attaches network namespaces of a guest to networks, as a container runtime and Multus attach pods. It calls a CNI
 * plugin with the configuration of the NetworkAttachmentDefinition and the PCI address of a VF.
 * Usage: `await pods.add("pod1", { config, deviceID: "0000:01:10.0" })` returns "192.168.77.10".
 */
import { goPrograms } from "@switchyard/go-programs";
import { findWorkspaceRoot } from "@switchyard/testing";
import type { GuestNode } from "@switchyard/vm-lab/guest-node";
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buildGoTools } from "../eve-bridge/lab-support.ts";

/** What Multus passes to the plugin. */
interface Attachment {
  /** `spec.config` of the NetworkAttachmentDefinition. */
  readonly config: string;
  /** PCI address of the VF. */
  readonly deviceID: string;
}

export interface CniPods {
  /** Creates a network namespace and attaches it. Returns the address of its interface net1. Rejects with the answer of the plugin. */
  add(name: string, attachment: Attachment): Promise<string>;
  /** Detaches the network namespace and deletes it. */
  remove(name: string, attachment: Attachment): Promise<void>;
  /** Reports whether a packet from one of them reaches an address within these seconds. */
  reaches(name: string, address: string, seconds: number): Promise<boolean>;
  /** Returns the number of frames that its interface net1 has received. */
  receivedFrames(name: string): Promise<number>;
}

const limitMs = 300_000;
const directory = "cni";

/** Copies the plugins ovs, host-local and the program that plays accelerated-bridge into the directory that the guest shares. */
export async function createCniPods({ guest, share }: Pick<GuestNode, "guest" | "share">): Promise<CniPods> {
  const plugins = join(share, directory);
  await mkdir(plugins);
  await copyFile(join(await goPrograms("ovs-cni"), "plugin"), join(plugins, "ovs"));
  await copyFile(join(await buildGoTools(), "host-local"), join(plugins, "host-local"));
  const played = join(plugins, "accelerated-bridge");
  await copyFile(join(findWorkspaceRoot(), "e2e/cluster/accelerated-bridge.mjs"), played);
  await chmod(played, 0o755);

  const run = (command: string) => guest.exec(command, { timeoutMs: limitMs });
  async function call(command: "ADD" | "DEL", name: string, { config, deviceID }: Attachment): Promise<string> {
    const parsed = JSON.parse(config) as { readonly type: string };
    const file = `${name}.json`;
    await writeFile(join(plugins, file), JSON.stringify({ ...parsed, deviceID, pciBusID: deviceID }));
    const variables = [
      ...[`CNI_COMMAND=${command}`, `CNI_CONTAINERID=${name}`, "CNI_IFNAME=net1", `CNI_NETNS=/run/netns/${name}`],
      ...[`CNI_PATH=/share/${directory}`, `K8S_POD_NAME=${name}`],
    ];
    const { code, stdout, stderr } = await run(
      `${variables.join(" ")} /share/${directory}/${parsed.type} </share/${directory}/${file}`,
    );
    if (code !== 0) throw new Error(`${parsed.type} ${command} for ${name}: ${stdout}${stderr}`);
    return stdout;
  }

  return {
    async add(name, attachment) {
      await run(`ip netns add ${name}`);
      const result = JSON.parse(await call("ADD", name, attachment)) as {
        readonly ips?: readonly { readonly address: string }[];
      };
      const address = result.ips?.[0]?.address.split("/")[0];
      if (address === undefined) throw new Error(`${name} has no address: ${JSON.stringify(result)}`);
      return address;
    },
    async remove(name, attachment) {
      await call("DEL", name, attachment);
      await run(`ip netns delete ${name}`);
    },
    async reaches(name, address, seconds) {
      const { code } = await run(`ip netns exec ${name} busybox ping -c 1 -w ${seconds} ${address}`);
      return code === 0;
    },
    async receivedFrames(name) {
      const { stdout } = await run(`ip netns exec ${name} ip -json -statistics link show net1`);
      const [link] = JSON.parse(stdout) as readonly [
        { readonly stats64: { readonly rx: { readonly packets: number } } },
      ];
      return link.stats64.rx.packets;
    },
  };
}

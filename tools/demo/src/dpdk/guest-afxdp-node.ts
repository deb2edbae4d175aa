// SPDX-License-Identifier: Apache-2.0
/**
 * startGuestAfxdpNode starts what a node with AF_XDP devices has besides the config daemon: afxdp-device-plugin, and a program that
 * plays the kubelet (apps/afxdp-device-plugin/src/testing/kubelet-process.ts).
 * Usage: `const node = await startGuestAfxdpNode(worker, "vm"); await node.kubelet({ allocate: { resource, ids } });`
 */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { namespace } from "@switchyard/test-cluster";
import { bundleForGuest, type GuestProcess } from "@switchyard/vm-lab";
import type { GuestNode } from "@switchyard/vm-lab/guest-node";

export interface GuestAfxdpNode {
  /** Asks the program that plays the kubelet. */
  readonly kubelet: (request: object) => Promise<unknown>;
  /** Starts the device plugin, also again after its end. */
  readonly startPlugin: () => GuestProcess;
}

/** `name` is that of the node. The device plugin is started by startPlugin(). */
export async function startGuestAfxdpNode({ guest, share }: GuestNode, name: string): Promise<GuestAfxdpNode> {
  const program = (file: string): string => `apps/afxdp-device-plugin/src/${file}`;
  await cp(await bundleForGuest(program("testing/kubelet-process.ts")), join(share, "kubelet"), { recursive: true });
  await cp(await bundleForGuest(program("main.ts")), join(share, "plugin"), { recursive: true });
  const played = guest.spawn(["node", "/share/kubelet/main.mjs", "/var/lib/kubelet"], { input: true });
  let problems = "";
  played.stderr.setEncoding("utf8").on("data", (text: string) => {
    problems += text;
  });
  const answers = createInterface({ input: played.stdout })[Symbol.asyncIterator]();
  return {
    async kubelet(request) {
      await played.write(`${JSON.stringify(request)}\n`);
      const { value } = (await answers.next()) as { readonly value?: string };
      if (value === undefined) throw new Error(`the kubelet ended: ${problems}`);
      return JSON.parse(value) as unknown;
    },
    startPlugin() {
      const flags = ["--kubeconfig", "/share/kubeconfig", "--namespace", namespace, "--node-name", name];
      const plugin = guest.spawn(["node", "/share/plugin/main.mjs", ...flags, "--health-address", ":29121"]);
      plugin.stderr.resume();
      return plugin;
    },
  };
}

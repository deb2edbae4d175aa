// SPDX-License-Identifier: Apache-2.0
/** startWatchedNode starts a watched cluster with one node, "vm", on a real kernel. */
import type { MachineOptions } from "@switchyard/vm-lab";
import { bootGuestNode, type GuestNode } from "@switchyard/vm-lab/guest-node";
import { startWatchedCluster, type WatchedCluster } from "./fake-worker.ts";

/** A cluster and its node. Disposing it ends both. */
export interface WatchedNode extends WatchedCluster {
  readonly node: GuestNode;
  /** Runs a command in the guest and returns its standard output without white space around it. Its exit code is ignored. */
  inGuest(command: string): Promise<string>;
}

/** `program` is the file of the daemon, if it is not main.ts. Rejects if the cluster cannot be started, or the guest not booted. */
export async function startWatchedNode(
  machine?: MachineOptions,
  { commandLimitMs = 120_000, program }: { readonly commandLimitMs?: number; readonly program?: string } = {},
): Promise<WatchedNode> {
  await using stack = new AsyncDisposableStack();
  const cluster = stack.use(await startWatchedCluster());
  const node = stack.use(await bootGuestNode(cluster.testCluster, "vm", machine, program));
  const owned = stack.move();
  return {
    ...cluster,
    node,
    async inGuest(command) {
      const { stdout } = await node.guest.exec(command, { timeoutMs: commandLimitMs });
      return stdout.trim();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * kubeletStandIn installs a unit in the place of the kubelet, which writes down what the kubelet would find when it starts.
 * Returns the command that installs and enables it. `script` is one for sh; its output is written to /run/kubelet-found.
 */
export function kubeletStandIn(script: string): string {
  return `cat >/usr/local/bin/kubelet <<'EOF'
${script}
EOF
cat >/etc/systemd/system/kubelet.service <<'EOF'
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c '/bin/sh /usr/local/bin/kubelet >/run/kubelet-found 2>&1; true'
[Install]
WantedBy=multi-user.target
EOF
systemctl daemon-reload; systemctl enable kubelet.service`;
}

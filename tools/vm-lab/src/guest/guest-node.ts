// SPDX-License-Identifier: Apache-2.0
/**
 * bootGuestNode starts a node on a real kernel: a guest of the VM lab with two igb ports. The config daemon in it uses the API
 * server on this machine.
 * Usage: `await using node = await bootGuestNode(stage, "vm-worker"); const daemon = node.startDaemon();`
 */
import { bootGuest, bundleForGuest, type Guest, type GuestProcess, type MachineOptions } from "@switchyard/vm-lab";
import { createWriteStream } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNode, namespace, type TestCluster } from "@switchyard/test-cluster";

export interface GuestNode extends AsyncDisposable {
  readonly guest: Guest;
  /** Directory of this machine that is /share in the guest. It has the daemon and a kubeconfig of the administrator. */
  readonly share: string;
  /** Its log is also in `<node>-daemon-<number>.log` in the directory of the test cluster. */
  startDaemon(flags?: readonly string[]): GuestDaemon;
}

export interface GuestDaemon extends GuestProcess {
  /** What it has logged so far. */
  log(): string;
}

/**
 * Registers the node and boots its guest, by default with udev, so that interfaces have their real names. `program` is the file
 * of the daemon in this workspace.
 */
export async function bootGuestNode(
  stage: TestCluster,
  name: string,
  machine: MachineOptions = { udev: true },
  program = "apps/config-daemon/src/main.ts",
): Promise<GuestNode> {
  await using stack = new AsyncDisposableStack();
  // Several guests can run at a time. Each has a copy of the bundle, and a kubeconfig for its own API server.
  const share = await mkdtemp(join(tmpdir(), "switchyard-guest-"));
  stack.defer(() => rm(share, { recursive: true, force: true }));
  await cp(await bundleForGuest(program), share, { recursive: true });
  await writeFile(join(share, "kubeconfig"), await kubeconfigForGuest(stage));
  const consoleLog = join(stage.directory, `${name}-console.log`);
  const guest = stack.use(await bootGuest({ consoleLog, ...machine, share }));
  await createNode(stage, name);
  const owned = stack.move();
  let started = 0;

  return {
    guest,
    share,
    startDaemon(flags = []) {
      const common = ["--kubeconfig", "/share/kubeconfig", "--namespace", namespace, "--host-root", "/"];
      const daemon = guest.spawn(["node", "/share/main.mjs", ...common, "--node-name", name, ...flags]);
      let log = "";
      daemon.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
      daemon.stderr.pipe(createWriteStream(join(stage.directory, `${name}-daemon-${++started}.log`)));
      return { ...daemon, log: () => log };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Replaces the address of the API server by slirp's address of the host, and sets the name in the certificate of the server. */
async function kubeconfigForGuest({ cluster }: TestCluster): Promise<string> {
  const text = await readFile(cluster.kubeconfig, "utf8");
  const server = cluster.server.replace("127.0.0.1", "10.0.2.2");
  return text.replace(`"server": "${cluster.server}"`, `"server": "${server}", "tls-server-name": "localhost"`);
}

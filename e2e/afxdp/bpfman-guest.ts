// SPDX-License-Identifier: Apache-2.0
/**
 * startBpfmanGuest starts what a node needs for loader bpfman, in a guest that is a node already. These are the daemon
 * of bpfman, the device plugin, and a process that is the kubelet, bpfman's client and a pod (node-process.ts).
 */
import { execFile } from "node:child_process";
import { copyFile, cp, mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { rustProgram } from "@switchyard/rust-programs";
import { namespace } from "@switchyard/test-cluster";
import { bundleForGuest, type GuestProcess } from "@switchyard/vm-lab";
import type { BpfmanLoader } from "../src/nodes/bpfman-agent.ts";
import type { WatchedNode } from "../src/nodes/watched-node.ts";

export interface BpfmanGuest extends AsyncDisposable {
  /** Asks node-process.ts. Rejects with the words of its error. */
  ask(request: object): Promise<Readonly<Record<string, unknown>>>;
  /** The real daemon of bpfman. */
  readonly loader: BpfmanLoader;
  startPlugin(loader: "builtin" | "bpfman"): GuestProcess;
}

const kubelet = "/run/kubelet";
const sockets = "/run/switchyard/afxdp";
const setup = `mkdir -p /etc/bpfman /run/bpfman-sock ${kubelet} ${sockets}
printf '[signing]\\nverify_enabled = false\\n' >/etc/bpfman/bpfman.toml
mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf`;
// The guest may have another version of the C library than this machine.
const bpfman = "/share/bpfman/ld-linux-x86-64.so.2 --library-path /share/bpfman /share/bpfman/bpfman-rpc --timeout 0";

export async function startBpfmanGuest(watched: WatchedNode): Promise<BpfmanGuest> {
  const { node } = watched;
  await copyProgram(await rustProgram("bpfman-rpc"), join(node.share, "bpfman"));
  for (const [name, entry] of [
    ["plugin", "apps/afxdp-device-plugin/src/main.ts"],
    ["node", "apps/afxdp-device-plugin/src/testing/node-process.ts"],
  ] as const) {
    await cp(await bundleForGuest(entry), join(node.share, name), { recursive: true });
  }
  await watched.inGuest(setup);
  const daemon = node.guest.spawn(`exec ${bpfman} >/run/bpfman.log 2>&1`);
  await watched.inGuest("for i in $(seq 300); do [ -S /run/bpfman-sock/bpfman.sock ] && break; sleep 0.2; done");
  const process = node.guest.spawn(["node", "/share/node/main.mjs", kubelet, sockets], { input: true });
  let problems = "";
  process.stderr.setEncoding("utf8").on("data", (text: string) => {
    problems += text;
  });
  const answers = createInterface({ input: process.stdout })[Symbol.asyncIterator]();

  async function askOne(request: object): Promise<Readonly<Record<string, unknown>>> {
    await process.write(`${JSON.stringify(request)}\n`);
    const { value } = (await answers.next()) as { readonly value?: string };
    if (value === undefined) throw new Error(`node-process.ts ended: ${problems}`);
    const answer = JSON.parse(value) as Readonly<Record<string, unknown>>;
    if (typeof answer["error"] === "string") throw new Error(answer["error"]);
    return answer;
  }
  let last: Promise<unknown> = Promise.resolve();
  function ask(request: object): Promise<Readonly<Record<string, unknown>>> {
    const answer = last.then(() => askOne(request));
    last = answer.catch(() => undefined);
    return answer;
  }
  const idOf = ({ id }: Readonly<Record<string, unknown>>): number => Number(id);

  return {
    ask,
    loader: {
      load: async ({ path, functionName }) => idOf(await ask({ load: { path, functionName } })),
      attach: async (programId, link) => idOf(await ask({ attach: { programId, ...link } })),
      async detach(linkId) {
        await ask({ detach: linkId });
      },
      async unload(programId) {
        await ask({ unload: programId });
      },
    },
    startPlugin(loader) {
      const flags = ["--node-name", "vm", "--namespace", namespace, "--kubeconfig", "/share/kubeconfig"];
      const places = ["--kubelet-directory", kubelet, "--socket-directory", sockets];
      const none = ["--health-address", "0", "--metrics-address", "0"];
      return node.guest.spawn(["node", "/share/plugin/main.mjs", ...flags, ...places, ...none, "--loader", loader]);
    },
    async [Symbol.asyncDispose]() {
      process.endInput();
      daemon.kill("SIGTERM");
      await daemon.exitCode;
    },
  };
}

/** Copies the program and the libraries that it is linked with. */
async function copyProgram(program: string, directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await copyFile(program, join(directory, basename(program)));
  const { stdout } = await promisify(execFile)("ldd", [program]);
  for (const [path] of stdout.matchAll(/\/\S+/g)) await copyFile(path, join(directory, basename(path)));
}

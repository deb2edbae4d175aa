// SPDX-License-Identifier: Apache-2.0
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findKubeletDirectory } from "./kubelet-directory.ts";

let root = "";

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "host-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function hostWith(name: string, processes: readonly (readonly [string, readonly string[]])[]): Promise<string> {
  const host = join(root, name);
  for (const [nth, [comm, args]] of [["systemd", ["/sbin/init"]] as const, ...processes].entries()) {
    const directory = join(host, "proc", String(nth + 1));
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, "comm"), `${comm}\n`);
    await writeFile(join(directory, "cmdline"), args.map((arg) => `${arg}\0`).join(""));
  }
  return host;
}

describe("the directory of the kubelet", () => {
  it.each([
    { what: "with a value", comm: "kubelet", args: ["/usr/bin/kubelet", "--v=2", "--root-dir=/data/kubelet"] },
    { what: "in two arguments", comm: "kubelet", args: ["kubelet", "--root-dir", "/data/kubelet/"] },
    { what: "of k3s", comm: "k3s-agent", args: ["/usr/local/bin/k3s agent", "--kubelet-arg=root-dir=/data/kubelet"] },
    { what: "of k3s in two arguments", comm: "k3s", args: ["k3s", "--kubelet-arg", "root-dir=/data/kubelet"] },
  ])("is that of the argument $what", async ({ what, comm, args }) => {
    expect(await findKubeletDirectory(await hostWith(what, [[comm, args]]))).toBe("/data/kubelet");
  });

  it("is the default without the argument, without a kubelet, and for other programs", async () => {
    const others = [
      ["kubelet", ["kubelet", "--config=/etc/kubelet.yaml"]],
      ["sh", ["sh", "--root-dir=/tmp/x"]],
      ["kubelet", ["kubelet", "--root-dir=relative"]],
    ] as const;
    expect(await findKubeletDirectory(await hostWith("others", others))).toBe("/var/lib/kubelet");
    expect(await findKubeletDirectory(join(root, "absent"))).toBe("/var/lib/kubelet");
  });
});

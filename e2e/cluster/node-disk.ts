// SPDX-License-Identifier: Apache-2.0
/**
 * nodeDisk returns the image of the disk that makes a guest of the VM lab a Kubernetes node: kubelet, containerd, Multus and the
 * CNI plugins of pods, and room for container images. It is kept in the user's cache.
 */
import { goPrograms } from "@switchyard/go-programs";
import { cachedDirectory } from "@switchyard/testing/user-cache";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { buildGoTools } from "../eve-bridge/lab-support.ts";

/** Directories of the disk: programs, CNI plugins, and the mount points of containerd's and the kubelet's data. */
const layout = { programs: "bin", plugins: "cni", data: ["containerd", "kubelet"] } as const;
/** The file is sparse. The guest discards what it writes. */
const size = "3G";

/** Builds what is missing. The first build of all programs takes several minutes. Needs mke2fs (package e2fsprogs). */
export async function nodeDisk(): Promise<string> {
  const [containerd, kubelet, multus, cniPlugins, cni] = [
    await goPrograms("containerd"),
    await goPrograms("kubelet"),
    await goPrograms("multus"),
    await goPrograms("cni-plugins"),
    await buildGoTools(),
  ];
  const files = [
    ...["containerd", "containerd-shim-runc-v2", "ctr"].map((name) => [containerd, name, layout.programs] as const),
    [kubelet, "kubelet", layout.programs] as const,
    [multus, "multus", layout.plugins] as const,
    [cniPlugins, "host-device", layout.plugins] as const,
    ...["bridge", "host-local"].map((name) => [cni, name, layout.plugins] as const),
  ];
  // The directories of programs are named by the hashes of their sources.
  const key = createHash("sha256").update(JSON.stringify({ files, layout, size }));
  const name = "disk.ext4";
  const built = await cachedDirectory(join("cluster-node", key.digest("hex").slice(0, 12)), async (draft) => {
    const tree = join(draft, "tree");
    for (const directory of [layout.programs, layout.plugins, ...layout.data]) {
      await mkdir(join(tree, directory), { recursive: true });
    }
    for (const [from, name, to] of files) await copyFile(join(from, name), join(tree, to, name));
    // With a journal, unlike the root disk: the node has to find its containers after a hard reset.
    const args = ["-q", "-t", "ext4", "-E", "lazy_itable_init=1", "-m", "0", "-d", tree, join(draft, name), size];
    await promisify(execFile)("mke2fs", args, { env: { ...process.env, PATH: `${process.env["PATH"] ?? ""}:/sbin` } });
    await rm(tree, { recursive: true });
  });
  return join(built, name);
}

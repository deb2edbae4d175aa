// SPDX-License-Identifier: Apache-2.0
/**
 * debianDpdk returns a tree with DPDK's testpmd and its AF_XDP driver of Debian 13, as a container image would have it. The driver of
 * earlier releases has neither use_cni nor use_pinned_map.
 * Usage: `const tree = await debianDpdk(); await runProgram("chroot", [tree, "dpdk-testpmd", …]);`
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findWorkspaceRoot } from "@switchyard/testing";

const packages = ["dpdk-dev", "librte-net-af-xdp25", "librte-mempool-ring25", "libcap2-bin", "util-linux"];

/** The first call downloads 60 MB. Rejects if this is no Debian, without root, or if the packages cannot be downloaded. */
export async function debianDpdk(): Promise<string> {
  const run = promisify(execFile);
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "switchyard");
  const unpacked = join(cache, "debian-dpdk-24.11");
  if (existsSync(unpacked)) return unpacked;
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, ".unpacking-"));
  process.stderr.write("unpacking DPDK of Debian 13 ...\n");
  try {
    const { stdout } = await run("sh", [join(findWorkspaceRoot(), "tools/vm-lab/image/mirror.sh")]);
    const tree = join(draft, "tree");
    const options = ["--aptopt=APT::Install-Recommends 0", `--include=${packages.join(",")}`];
    const form = ["--quiet", "--mode=root", "--variant=extract", "--format=directory"];
    await run("mmdebstrap", [...form, ...options, "trixie", tree, stdout.trim()]);
    // The packages are unpacked, not configured: what base-files would do.
    for (const name of ["lib", "lib64", "bin", "sbin"]) await symlink(`usr/${name}`, join(tree, name));
    for (const name of ["proc", "sys", "tmp"]) await mkdir(join(tree, name), { recursive: true });
    await rename(tree, unpacked).catch((error: unknown) => {
      if (!existsSync(unpacked)) throw error; // another process unpacked it meanwhile
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return unpacked;
}

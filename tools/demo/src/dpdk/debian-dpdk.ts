// SPDX-License-Identifier: Apache-2.0
/**
 * debianDpdk returns a tree with DPDK's testpmd and its AF_XDP driver of Debian 13, as a container image would have it. The driver of
 * earlier releases has neither use_cni nor use_pinned_map.
 * Usage: `const tree = await debianDpdk(); await runProgram("chroot", [tree, "dpdk-testpmd", …]);`
 */
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { findWorkspaceRoot } from "@switchyard/testing";
import { cachedDirectory } from "@switchyard/testing/user-cache";

const packages = ["dpdk-dev", "librte-net-af-xdp25", "librte-mempool-ring25", "libcap2-bin", "util-linux"];

/** The first call downloads 60 MB. Rejects if this is no Debian, without root, or if the packages cannot be downloaded. */
export async function debianDpdk(): Promise<string> {
  const run = promisify(execFile);
  return cachedDirectory("debian-dpdk-24.11", async (tree) => {
    process.stderr.write("unpacking DPDK of Debian 13 ...\n");
    const { stdout } = await run("sh", [join(findWorkspaceRoot(), "tools/vm-lab/image/mirror.sh")]);
    const options = ["--aptopt=APT::Install-Recommends 0", `--include=${packages.join(",")}`];
    const form = ["--quiet", "--mode=root", "--variant=extract", "--format=directory"];
    await run("mmdebstrap", [...form, ...options, "trixie", tree, stdout.trim()]);
    // The packages are unpacked, not configured: what base-files would do.
    for (const name of ["lib", "lib64", "bin", "sbin"]) await symlink(`usr/${name}`, join(tree, name));
    for (const name of ["proc", "sys", "tmp"]) await mkdir(join(tree, name), { recursive: true });
  });
}

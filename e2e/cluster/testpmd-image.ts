// SPDX-License-Identifier: Apache-2.0
/**
 * pushTestpmd makes an image of DPDK's testpmd of Debian 13, with its AF_XDP driver and the libraries that both need. The program has
 * the file capabilities that docs/guide/afxdp.md asks for.
 */
import { debianDpdk } from "@switchyard/demo/debian-dpdk";
import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir, realpath, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Registry } from "./registry.ts";
import { imageTree } from "./third-party-images.ts";

const run = promisify(execFile);
/** Loads programs, and lists the libraries that they need. */
const loader = "/lib64/ld-linux-x86-64.so.2";
const drivers = "/usr/lib/x86_64-linux-gnu/dpdk";
/** DPDK loads each driver in its directory whose name ends so. */
const needed = /^librte_(?:bus_vdev|mempool_ring|net_af_xdp)\.so\.\d+\.\d+$/;

/** Returns the name of the image in the registry. Needs root, as debianDpdk. */
export async function pushTestpmd(registry: Registry): Promise<string> {
  const dpdk = await debianDpdk();
  const tree = await imageTree(registry, "testpmd");
  const [directory = ""] = await readdir(join(dpdk, drivers));
  const inDirectory = (await readdir(join(dpdk, drivers, directory))).filter((name) => needed.test(name));
  const own = inDirectory.map((name) => join(drivers, directory, name));
  const listed = await Promise.all(["/usr/bin/dpdk-testpmd", ...own].map((path) => librariesOf(dpdk, path)));
  for (const path of new Set([loader, ...own, ...listed.flat()])) await copy(path);
  await mkdir(join(tree, "usr/local/bin"), { recursive: true });
  await copyFile(join(dpdk, "usr/bin/dpdk-testpmd"), join(tree, "usr/local/bin/dpdk-testpmd"));
  await run("setcap", ["cap_net_raw,cap_ipc_lock=ep", join(tree, "usr/local/bin/dpdk-testpmd")]);
  const digest = await registry.push("testpmd:1", { tree, entryPoint: ["/usr/local/bin/dpdk-testpmd"] });
  return `testpmd@${digest}`;

  /** A file and a link to it must stay one file: a driver that is loaded twice has two states. */
  async function copy(path: string): Promise<void> {
    const file = (await realpath(join(dpdk, path))).slice((await realpath(dpdk)).length);
    for (const each of [file, path]) await mkdir(dirname(join(tree, each)), { recursive: true });
    await copyFile(join(dpdk, file), join(tree, file));
    if (file !== path) await symlink(file, join(tree, path));
  }
}

/** Lines such as "libnuma.so.1 => /lib/x86_64-linux-gnu/libnuma.so.1 (0x…)". */
async function librariesOf(root: string, path: string): Promise<readonly string[]> {
  const { stdout } = await run("chroot", [root, loader, "--list", path]);
  return [...stdout.matchAll(/=> (\/\S+)/g)].flatMap(([, library]) => (library === undefined ? [] : [library]));
}

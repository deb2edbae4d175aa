// SPDX-License-Identifier: Apache-2.0
/**
 * parseMountInfo reads the mounts of a process (proc_pid_mountinfo(5)).
 * Usage: `parseMountInfo(await readFile("/proc/1/mountinfo", "utf8")).get("/run/afxdp_dp/fast/…") === "bpf"`.
 */

/**
 * Returns the type of the file system of each mount point; of several mounts at one point, that of the last, which covers the others.
 * Mount points are as in the file, with octal escapes for white space. Lines that are not valid are left out.
 */
export function parseMountInfo(text: string): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const line of text.split("\n")) {
    // id, parent, device, root, mount point, options, optional fields, "-", type, source, options
    const [before = "", after = ""] = line.split(" - ", 2);
    const point = before.split(" ")[4];
    const [type] = after.split(" ");
    if (point !== undefined && type) types.set(point, type);
  }
  return types;
}

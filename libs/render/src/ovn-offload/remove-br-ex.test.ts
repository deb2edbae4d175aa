// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ovnOffloadFiles } from "./offload-units.ts";

const configured = ["ovs-if-br-ex", "ovs-port-br-ex", "ovs-if-phys0", "ovs-port-phys0", "br-ex"];
let directory: string;

/** A stand-in for nmcli, whose connections are the lines of a file. */
const nmcli = `#!/bin/sh
case "$*" in
"--get-values RUNNING general") cat running ;;
"--escape no --get-values NAME connection show") cat connections ;;
"connection delete id "*) [ "$4" != "$(cat stuck)" ] && grep -Fvx -e "$4" connections >rest; mv rest connections ;;
*) echo "unexpected: $*"; exit 2 ;;
esac
`;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "remove-br-ex-"));
  for (const tool of ["cat", "grep", "mv"]) await symlink(`/bin/${tool}`, join(directory, tool));
  await writeFile(join(directory, "nmcli"), nmcli);
  await chmod(join(directory, "nmcli"), 0o755);
  await writeFile(join(directory, "running"), "running\n");
  await writeFile(join(directory, "stuck"), "");
});

afterEach(() => rm(directory, { recursive: true }));

/** Runs the script as the unit does, and returns its exit code and the connections that are left. */
async function run(...connections: readonly string[]) {
  const script = ovnOffloadFiles().find(({ path }) => path.endsWith("remove-br-ex"))?.text ?? "exit 99";
  await writeFile(join(directory, "script"), script);
  await writeFile(join(directory, "connections"), connections.map((name) => `${name}\n`).join(""));
  const code = await promisify(execFile)("/bin/sh", ["script"], { cwd: directory, env: { PATH: directory } }).then(
    () => 0,
    (error: unknown) => (error as { readonly code: number }).code,
  );
  return { code, left: (await readFile(join(directory, "connections"), "utf8")).split("\n").slice(0, -1) };
}

describe("the script that gives br-ex back to NetworkManager", () => {
  it("deletes the connections of configure-ovs, and no others", async () => {
    expect(await run("uplink", ...configured, "br-ex1", "ovs-if-phys00")).toEqual({
      code: 0,
      left: ["uplink", "br-ex1", "ovs-if-phys00"],
    });
  });

  it("deletes those of the second bridge and the clones of a bond's ports, and no bridge of others", async () => {
    const second = ["ovs-if-br-ex1", "ovs-port-br-ex1", "ovs-if-phys1", "ovs-port-phys1", "br-ex1"];
    const clones = ["bond0-port1-slave-ovs-clone", "* two words-slave-ovs-clone"];
    expect(await run("bond0", ...clones, ...configured, ...second)).toEqual({ code: 0, left: ["bond0"] });
    expect(await run("uplink", ...second, "br-ex")).toEqual({ code: 0, left: ["uplink", "br-ex"] });
    expect(await run(...clones, "br-ex1")).toEqual({ code: 0, left: [...clones, "br-ex1"] });
  });

  it("completes what a killed run left, wherever it was killed", async () => {
    const order = ["ovs-if-phys0", "ovs-port-phys0", "ovs-port-br-ex", "br-ex", "ovs-if-br-ex"];
    for (const done of order.keys()) {
      expect(await run("uplink", ...order.slice(done))).toEqual({ code: 0, left: ["uplink"] });
    }
  });

  it.each([[["uplink"]], [["br-ex", "ovs-port-br-ex", "br-ex-if"]], [[]]])(
    "does nothing without the connections of configure-ovs: %j",
    async (connections) => {
      expect(await run(...connections)).toEqual({ code: 0, left: connections });
    },
  );

  it("does nothing without NetworkManager", async () => {
    await writeFile(join(directory, "running"), "not running\n");
    expect(await run(...configured)).toEqual({ code: 0, left: configured });
    await rm(join(directory, "nmcli"));
    expect(await run(...configured)).toEqual({ code: 0, left: configured });
  });

  it("fails if a connection cannot be deleted, and deletes the others", async () => {
    await writeFile(join(directory, "stuck"), "ovs-port-br-ex");
    expect(await run(...configured)).toEqual({ code: 1, left: ["ovs-port-br-ex"] });
  });
});

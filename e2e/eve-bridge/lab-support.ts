// SPDX-License-Identifier: Apache-2.0
/**
 * describeInLab declares tests that need root, network namespaces, Debian's dnsmasq and strace, and Go. It installs
 * missing packages. If the packages or the namespaces are not available, it prints the reason and skips the tests.
 * Usage: `describeInLab("eth0", () => { it(…) })`.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { describe } from "@jest/globals";

/** Packages by program. */
const programs: Readonly<Record<string, string>> = {
  ip: "iproute2",
  nsenter: "util-linux",
  dnsmasq: "dnsmasq-base",
  strace: "strace",
  busybox: "busybox-static",
};

const installMs = 300_000;

/** Calls describe(), or describe.skip() with the reason if the tests cannot run. */
export function describeInLab(name: string, tests: () => void): void {
  const missing = whatIsMissing();
  if (missing === undefined) {
    describe(name, tests);
    return;
  }
  process.stderr.write(`\n!!! SKIPPED: eve-bridge: ${name}: ${missing}\n\n`);
  describe.skip(`${name} (${missing})`, tests);
}

let answer: { readonly missing: string | undefined } | undefined;

/** Returns why the tests cannot run; undefined if they can. Computed once. */
function whatIsMissing(): string | undefined {
  answer ??= { missing: findOut() };
  return answer.missing;
}

function findOut(): string | undefined {
  if (process.getuid?.() !== 0) return "network namespaces need root";
  const left = ensureDebianPackages();
  if (left.length > 0) return `no ${left.join(", no ")}`;
  if (!isInPath("go")) return "no Go to build the CNI plugins with";
  const name = `eve-bridge-probe-${process.pid}`;
  const probe = spawnSync("ip", ["netns", "add", name]);
  if (probe.status !== 0) return `no network namespaces: ${probe.stderr.toString().trim()}`;
  spawnSync("ip", ["netns", "del", name]);
  return undefined;
}

/** Installs the packages of missing programs, with progress on stderr. Returns the programs that are still missing. */
function ensureDebianPackages(): string[] {
  const missing = () => Object.keys(programs).filter((program) => !isInPath(program));
  const packages = missing().flatMap((program) => programs[program] ?? []);
  if (packages.length === 0 || !isInPath("apt-get")) return missing();
  const apt = (...args: string[]) => {
    process.stderr.write(`[eve-bridge] apt-get ${args.join(" ")} ...\n`);
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    return spawnSync("apt-get", ["-qq", ...args], { env, stdio: ["ignore", "ignore", "inherit"], timeout: installMs });
  };
  const install = () => apt("install", "-y", "--no-install-recommends", ...packages).status === 0;
  // A new container image has no package lists.
  if (!install()) {
    apt("update");
    install();
  }
  return missing();
}

function isInPath(program: string): boolean {
  const dirs = [...(process.env["PATH"] ?? "").split(":"), "/usr/sbin", "/sbin"];
  return dirs.some((dir) => {
    try {
      accessSync(join(dir, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

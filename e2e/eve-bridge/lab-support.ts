// SPDX-License-Identifier: Apache-2.0
/**
 * describeInLab declares tests that need root, network namespaces, Debian's dnsmasq and strace, and Go. If
 * packages or the namespaces are not available, it prints the reason and skips the tests.
 */
import { describe } from "@jest/globals";
import { buildGoPrograms } from "@switchyard/go-programs";
import { debianPackages } from "@switchyard/testing";
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { join } from "node:path";

/** `npm run e2e` installs them before it starts (tools/run/src/e2e-programs.ts). */
const programs = ["ip", "nsenter", "dnsmasq", "strace", "busybox"] as const;

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
  const missing = programs.filter((program) => !isInPath(program));
  if (missing.length > 0) {
    return `not installed: ${missing.map((program) => `${program} (package ${debianPackages[program]})`).join(", ")}`;
  }
  if (!isInPath("go")) return "no Go to build the CNI plugins with";
  const name = `eve-bridge-probe-${process.pid}`;
  const probe = spawnSync("ip", ["netns", "add", name]);
  if (probe.status !== 0) return `no network namespaces: ${probe.stderr.toString().trim()}`;
  spawnSync("ip", ["netns", "del", name]);
  return undefined;
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

/**
 * buildGoTools builds the programs of go/: the stock CNI plugins, `cnitool`, the Go RPC server `judge`, and `wiretap`.
 * Returns the directory of the programs. Rejects if Go is missing or cannot build them.
 */
export function buildGoTools(): Promise<string> {
  return buildGoPrograms({ sources: join(__dirname, "go"), cacheName: "cni", title: "the CNI plugins" });
}

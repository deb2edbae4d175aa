// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the installer with the real program and the real Node, on nodes that have almost no other programs.
 */
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { startFakeZedrouter } from "./fake-zedrouter.ts";
import { describeInLab } from "./lab-support.ts";
import { createNodeLab } from "./node-lab.ts";
import { output, run, type RunOutcome } from "./shell.ts";

const limitMs = 300_000;
const bundleScript = join(__dirname, "../../apps/eve-bridge/bundle.js");
const versionCall = { env: { PATH: process.env["PATH"], CNI_COMMAND: "VERSION" }, stdin: '{"cniVersion":"0.3.1"}' };

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}

describeInLab("the installer", () => {
  let dir = "";
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "ebi-"));
    await output(process.execPath, [bundleScript, join(dir, "dist")]);
  }, limitMs);
  afterAll(() => {
    rmSync(dir, { recursive: true, force: true });
  });

  const program = (dist = "dist") => [process.execPath, join(dir, dist, "eve-bridge.cjs")] as const;
  const versionsIn = (cni: string) => readdirSync(join(cni, ".eve-bridge"));

  function newCniDirectory(name: string): string {
    const cni = join(dir, name);
    mkdirSync(cni);
    return cni;
  }

  async function install(cni: string, graceSeconds = 0, dist = "dist"): Promise<string> {
    const [node, bundle] = program(dist);
    return output(node, [bundle, "install", "--to", cni, "--grace-seconds", `${graceSeconds}`]);
  }

  it(
    "installs a program into the CNI directory that works like the bundle",
    async () => {
      const cni = newCniDirectory("plain");
      expect(await install(cni)).toMatch(/^installed \d+\.\d+\.\d+-[0-9a-f]{12} as .*\/eve-bridge\n$/);
      expect(JSON.parse(await output(join(cni, "eve-bridge"), [], versionCall))).toMatchObject({ cniVersion: "0.3.1" });
      const [version = ""] = versionsIn(cni);
      expect(existsSync(join(cni, ".eve-bridge", version, "eve-bridge.cache"))).toBe(true);
      expect((await run(join(cni, "eve-bridge"), ["--version"])).stdout).toMatch(/^eve-bridge \d/);

      await using lab = await createNodeLab();
      await using zedrouter = await startFakeZedrouter({ socket: lab.settings.rpcSocket, host: lab.host });
      const pod = await lab.createPod("virt-launcher-app-1-027a9-abcde-fghij");
      const conf = { cniVersion: "0.3.1", name: "ni", type: "eve-bridge" };
      const command = [join(cni, "eve-bridge")];
      expect(await lab.call("ADD", pod, conf, { command })).toMatchObject({ status: 0, stderr: "" });
      expect(zedrouter.connected()).toBe(1);
      expect(await lab.call("DEL", pod, conf, { command })).toMatchObject({ status: 0, stdout: "", stderr: "" });
    },
    limitMs,
  );

  it(
    "stays until it is terminated if it is asked to, as the container of a DaemonSet",
    async () => {
      const [node, bundle] = program();
      const child = spawn(node, [bundle, "install", "--to", newCniDirectory("stay"), "--grace-seconds", "0", "--stay"]);
      const exited = once(child, "exit");
      const line: unknown = (await once(child.stdout.setEncoding("utf8"), "data"))[0];
      expect(line).toMatch(/^installed /);
      expect(child.exitCode).toBeNull();
      child.kill("SIGTERM");
      expect(await exited).toEqual([0, null]);
    },
    limitMs,
  );

  it(
    "works if the root is read-only and only the CNI directory is writable",
    async () => {
      const cni = newCniDirectory("read-only");
      const [node, bundle] = program();
      const script = [
        "set -e",
        `mount -t tmpfs tmpfs ${cni}`,
        "mount --bind / /",
        "mount -o remount,bind,ro /",
        `mount --bind ${cni} ${cni}`,
        `if touch ${dir}/writable 2>/dev/null; then echo "the root can be written"; exit 1; fi`,
        `${node} ${bundle} install --to ${cni} --grace-seconds 0`,
        `echo '{}' | CNI_COMMAND=VERSION ${cni}/eve-bridge`,
      ].join("\n");
      const { status, stdout, stderr } = await run("unshare", [
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        script,
      ]);
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(stdout).toContain("supportedVersions");
    },
    limitMs,
  );

  it(
    "installs everything that Node needs: the node needs only a shell, with any C library",
    async () => {
      const root = join(dir, "root");
      const cni = join(root, "opt/cni/bin");
      mkdirSync(join(root, "bin"), { recursive: true });
      mkdirSync(join(root, "proc"));
      mkdirSync(cni, { recursive: true });
      copyFileSync((await output("sh", ["-c", "command -v busybox"])).trim(), join(root, "bin/sh"));
      chmodSync(join(root, "bin/sh"), 0o755);
      await install(cni);
      const script = `mount -t proc proc ${root}/proc && exec chroot ${root} /opt/cni/bin/eve-bridge`;
      const { status, stdout, stderr } = await run("unshare", ["--mount", "sh", "-c", script], versionCall);
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(stdout).toContain("supportedVersions");
    },
    limitMs,
  );

  it(
    "replaces versions while a runtime calls the plugin continuously, and removes the old versions",
    async () => {
      const cni = newCniDirectory("upgrade");
      for (const dist of ["one", "two"]) {
        await output(process.execPath, [bundleScript, join(dir, dist)]);
        appendFileSync(join(dir, dist, "eve-bridge.cjs"), `\n// ${dist}\n`);
      }
      await install(cni);
      let going = true;
      const failures: RunOutcome[] = [];
      let calls = 0;
      const runtime = async () => {
        while (going) {
          const outcome = await run(join(cni, "eve-bridge"), [], versionCall);
          calls++;
          if (outcome.status !== 0 || !outcome.stdout.includes("supportedVersions")) failures.push(outcome);
        }
      };
      const runtimes = [runtime(), runtime()];
      // On a loaded machine a call may take long between the start of its launcher and of its program.
      for (const dist of ["one", "two"]) await install(cni, 5, dist);
      going = false;
      await Promise.all(runtimes);
      expect(failures).toEqual([]);
      expect(calls).toBeGreaterThan(10);
      expect(versionsIn(cni)).toHaveLength(1);
    },
    limitMs,
  );

  it(
    "killed at any time leaves the present version working, and the next installation removes its files",
    async () => {
      const cni = newCniDirectory("killed");
      await install(cni);
      const [node, bundle] = program("one");
      // These times are spread over the whole installation: copying files and testing the new version.
      for (const afterMs of [60, 150, 300, 600]) {
        const installing = run(node, [bundle, "install", "--to", cni, "--grace-seconds", "0"], {
          onStart: (pid) => {
            setTimeout(killIfThere, afterMs, pid);
          },
        });
        await installing;
        expect(await output(join(cni, "eve-bridge"), [], versionCall)).toContain("supportedVersions");
      }
      await install(cni, 0, "one");
      expect(await output(join(cni, "eve-bridge"), [], versionCall)).toContain("supportedVersions");
      expect(
        readdirSync(cni)
          .filter((name) => !name.startsWith(".new-"))
          .sort(),
      ).toEqual([".eve-bridge", "eve-bridge"]);
    },
    limitMs,
  );
});

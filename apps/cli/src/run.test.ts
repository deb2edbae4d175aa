// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { productVersion } from "@switchyard/service/version";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCli } from "./testing/run-cli.ts";
import { verbs } from "./verbs.ts";

describe("switchyard", () => {
  it.each([
    { argv: [], says: "Usage: switchyard VERB" },
    { argv: ["rander"], says: 'unknown verb "rander"; did you mean render?' },
    { argv: ["paint"], says: 'unknown verb "paint"; verbs are render, validate, plan' },
    { argv: ["render", "--colour"], says: 'Unknown option "--colour"' },
    { argv: ["render", "-o", "xml"], says: '--output must be one of yaml, json, text, not "xml"' },
    {
      argv: ["render", "--only", "Pod", "-f", "-"],
      says: '"Pod" must be one of AfxdpNetworkNodeState, ClusterBpfApplication',
    },
    { argv: ["nics", "all"], says: 'unexpected argument "all" of nics' },
    { argv: ["render"], says: "no input: use -f FILE, --context NAME or --kubeconfig FILE" },
    { argv: ["render", "cluster/"], says: 'unexpected argument "cluster/" of render; use -f to give objects' },
    { argv: ["doctor", "-f", "-", "--context", "lab"], says: "use either -f, or --context and --kubeconfig" },
    { argv: ["validate", "--existing", "a"], says: "no input: use -f FILE for the objects to validate" },
    { argv: ["explain"], says: "explain requires one argument, KIND[.FIELD] or NAME" },
    { argv: ["explain", "Pod"], says: 'unknown name "Pod"; names with it are ' },
    { argv: ["explain", "Widget"], says: 'unknown kind "Widget"; kinds are SriovNetworkNodePolicy' },
    { argv: ["explain", "SriovNetwork.spec.__proto__"], says: 'SriovNetwork.spec has no field "__proto__"' },
    { argv: ["eve-bridge"], says: 'eve-bridge requires one argument, "doctor"' },
    { argv: ["completion", "tcsh"], says: "completion requires one argument, one of bash, zsh, fish, kubectl" },
  ])("reports wrong usage: $argv", async ({ argv, says }) => {
    const { code, out, err } = await runCli(argv);
    expect({ code, out }).toEqual({ code: 64, out: "" });
    expect(err).toContain(says);
  });

  it.each([["--help"], ...verbs.map(({ name }) => [name, "--help"])])(
    "has help of at most 80 columns: %s %s",
    async (...argv) => {
      const { code, out, err } = await runCli(argv.filter((word) => typeof word === "string"));
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toMatch(/^Usage: switchyard /);
      expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
    },
  );

  it.each(["bash", "zsh", "fish", "kubectl"])("completes every verb and its flags in %s", async (shell) => {
    const { out } = await runCli(["completion", shell]);
    for (const { name } of verbs) expect(out).toContain(name);
    for (const flag of ["detailed-exitcode", "resource-prefix", "existing"]) expect(out).toContain(flag);
  });

  it("suggests the verb that was meant", async () => {
    expect(await runCli(["docto"])).toMatchObject({
      code: 64,
      err: 'switchyard: unknown verb "docto"; did you mean doctor?\n',
    });
  });

  it("explains a field from its CRD", async () => {
    const { out } = await runCli(["explain", "sriovnetworknodepolicies.spec.deviceType"]);
    expect(out).toContain("FIELD: deviceType <string>\n");
    expect(out).toContain('  - default: "netdevice"\n  - one of "netdevice", "vfio-pci"\n');
  });

  it("lists NICs and its version as data", async () => {
    const nics: unknown = JSON.parse((await runCli(["nics", "--supported", "-o", "json"])).out);
    expect(nics).toContainEqual({
      vendor: "8086",
      deviceID: "158b",
      vfDeviceID: "154c",
      name: "Intel XXV710, 25 GbE SFP28",
    });
    expect(JSON.parse((await runCli(["version", "-o", "json"])).out)).toMatchObject({ version: productVersion });
  });
});

describe("switchyard eve-bridge doctor", () => {
  it("reports what a node without the plugins lacks, and exits with 1", async () => {
    const { code, out } = await runCli(["eve-bridge", "doctor", "-o", "json"], { env: { CNI_PATH: "/nowhere" } });
    const report: unknown = JSON.parse(out);
    expect(code).toBe(1);
    expect(report).toMatchObject({ healthy: false });
    expect(out).toContain("in path [/nowhere]");
  });
});

describe("the input", () => {
  it("may contain invalid files beside valid ones", async () => {
    const folder = await mkdtemp(join(tmpdir(), "switchyard-cli-"));
    try {
      await writeFile(join(folder, "a.yaml"), "apiVersion: v1\nkind: Node\nmetadata: {name: a\n");
      await writeFile(join(folder, "b.yml"), "kind: Node\n");
      await writeFile(
        join(folder, "c.json"),
        JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name: "s" } }),
      );
      await writeFile(join(folder, "notes.txt"), "not read");
      const { code, out, err } = await runCli(["render", "-f", folder, "-f", join(folder, "none.yaml"), "-o", "json"]);
      expect(code).toBe(1);
      expect(JSON.parse(out)).toEqual({ apiVersion: "v1", kind: "List", items: [] });
      expect(err.replaceAll(folder, "F").split("\n")).toEqual([
        expect.stringMatching(/^F\/a\.yaml:\d+:\d+: /),
        "F/b.yml:1: not a Kubernetes object: apiVersion and kind are required",
        "F/none.yaml: no such file or directory (ENOENT)",
        "ignored: 1 Secret",
        "",
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("cannot control the terminal", async () => {
    const input = [
      { apiVersion: "sriovnetwork.openshift.io/v1", kind: "SriovNetwork", metadata: { name: "\u001b[2J\nx" } },
    ];
    const { err } = await runCli(["render", "-f", "-"], { input });
    expect(err).not.toContain("\u001b");
  });
});

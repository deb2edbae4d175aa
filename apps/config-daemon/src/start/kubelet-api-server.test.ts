// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readKubeletApiServer } from "./api-server.ts";

function kubeconfig(...servers: readonly string[]): string {
  const clusters = servers.map((server, index) => `- cluster:\n    server: ${server}\n  name: c${index}\n`);
  return `apiVersion: v1\nkind: Config\nclusters:\n${clusters.join("")}users:\n- name: kubelet\n`;
}

async function read(text: string) {
  const directory = await mkdtemp(join(tmpdir(), "kubelet-"));
  try {
    await writeFile(join(directory, "kubeconfig"), text);
    return await readKubeletApiServer(join(directory, "kubeconfig"));
  } finally {
    await rm(directory, { recursive: true });
  }
}

describe("readKubeletApiServer", () => {
  it.each([
    { server: "https://api-int.lab.example.com:6443", host: "api-int.lab.example.com", port: "6443" },
    { server: '"https://10.0.0.1:6443"', host: "10.0.0.1", port: "6443" },
    { server: "https://[fd00::1]:6443", host: "fd00::1", port: "6443" },
    { server: "https://api.example.com", host: "api.example.com", port: "443" },
  ])("reads the server of the kubeconfig: $server", async ({ server, host, port }) => {
    expect(await read(kubeconfig(server))).toEqual({ KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port });
  });

  it("reads a kubeconfig in JSON", async () => {
    const clusters = [{ name: "c", cluster: { server: "https://api:6443", "certificate-authority": "/ca" } }];
    for (const indent of [0, 2]) {
      const text = JSON.stringify({ kind: "Config", clusters }, undefined, indent);
      expect(await read(text)).toMatchObject({ KUBERNETES_SERVICE_HOST: "api" });
    }
  });

  it.each([
    { where: "it names several", text: kubeconfig("https://a:1", "https://b:1") },
    { where: "it names none", text: kubeconfig() },
    { where: "it is not encrypted", text: kubeconfig("http://a:1") },
    { where: "it is no URL", text: kubeconfig("https://[::") },
  ])("returns undefined if $where", async ({ text }) => {
    expect(await read(text)).toBeUndefined();
  });

  it("returns undefined without a kubeconfig", async () => {
    expect(await readKubeletApiServer("/nowhere/kubeconfig")).toBeUndefined();
  });
});

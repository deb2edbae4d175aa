// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { connect } from "../connect/connect.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { startTestProxy } from "../testing/test-proxy.ts";
import { proxyFor } from "./environment-proxy.ts";

const proxy = "http://proxy.example.com:3128";

describe("proxyFor", () => {
  it.each([
    { server: "https://api.example.com:6443", env: { HTTPS_PROXY: proxy }, is: proxy },
    { server: "https://api.example.com:6443", env: { https_proxy: proxy }, is: proxy },
    { server: "https://api.example.com:6443", env: { HTTPS_PROXY: "proxy.example.com:3128" }, is: proxy },
    { server: "https://api.example.com:6443", env: { HTTP_PROXY: proxy }, is: undefined },
    { server: "http://api.example.com:6443", env: { HTTP_PROXY: proxy }, is: proxy },
    { server: "https://localhost:6443", env: { HTTPS_PROXY: proxy }, is: undefined },
    { server: "https://127.0.0.1:6443", env: { HTTPS_PROXY: proxy }, is: undefined },
    { server: "https://[::1]:6443", env: { HTTPS_PROXY: proxy }, is: undefined },
    { server: "https://api.example.com", env: {}, is: undefined },
  ])("returns $is for $server with $env", ({ server, env, is }) => {
    expect(proxyFor(new URL(server), env)).toBe(is);
  });

  it.each([
    { except: "api.example.com", server: "https://api.example.com:6443" },
    { except: "example.com", server: "https://api.example.com:6443" },
    { except: "a, .example.com", server: "https://api.example.com:6443" },
    { except: "*.example.com", server: "https://API.example.com:6443" },
    { except: "api.example.com:6443", server: "https://api.example.com:6443" },
    { except: "api.example.com:443", server: "https://api.example.com" },
    { except: "10.0.0.0/8", server: "https://10.1.2.3:6443" },
    { except: "10.1.2.3", server: "https://10.1.2.3:6443" },
    { except: "fd00::/8", server: "https://[fd00::1]:6443" },
    { except: "[fd00::1]:6443", server: "https://[fd00::1]:6443" },
    { except: "*", server: "https://api.example.com:6443" },
  ])("returns none for $server with NO_PROXY=$except", ({ except, server }) => {
    expect(proxyFor(new URL(server), { HTTPS_PROXY: proxy, NO_PROXY: except })).toBeUndefined();
    expect(proxyFor(new URL(server), { https_proxy: proxy, no_proxy: except })).toBeUndefined();
  });

  it.each(["api.example.com:443", ".api.example.com", "10.0.0.0/33", "10.0.0.0/x", "x/8", "ample.com", "::1", ","])(
    "uses the proxy for a server that NO_PROXY=%s does not contain",
    (except) => {
      for (const server of ["https://api.example.com:6443", "https://10.1.2.3:6443"]) {
        expect(proxyFor(new URL(server), { HTTPS_PROXY: proxy, NO_PROXY: except })).toBe(proxy);
      }
    },
  );
});

describe("connect", () => {
  const config = (proxyUrl?: string) =>
    JSON.stringify({
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "c" } }],
      clusters: [{ name: "c", cluster: { server: "https://api.test:6443", "proxy-url": proxyUrl } }],
    });

  it("asks the proxy of the environment if that is wanted, and the proxy-url of the kubeconfig before it", async () => {
    await using outer = await startTestProxy("http", { status: 407 });
    await using own = await startTestProxy("http", { status: 407 });
    await using directory = await TemporaryDirectory.of({ plain: config(), own: config(own.url) });
    const env = { HTTPS_PROXY: outer.url };
    const ask = async (file: string, usesProxyVariables: boolean) => {
      const kubeconfig = directory.file(file);
      await using transport = await connect({ kubeconfig, env, usesProxyVariables });
      return await transport.request({ method: "GET", path: "/version" });
    };
    await expect(ask("plain", true)).rejects.toThrow(`through the proxy ${outer.host}`);
    await expect(ask("own", true)).rejects.toThrow(`through the proxy ${own.host}`);
    await expect(ask("plain", false)).rejects.toThrow("ENOTFOUND");
  });
});

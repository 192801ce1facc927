// Drives one session of a server with the official TypeScript client.
//
//   node client.mjs COMMAND ARG… <steps >answers
//
// steps is a JSON array of {tool, args}. One line goes out for the greeting, one
// for each step and one for the end:
//
//   {"server": …, "capabilities": …, "tools": […]}
//   {"result": …}, or {"error": {"code": …, "message": …}} where the call was thrown out
//   {"closed_ms": …, "gone": true}
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const say = (answer) => console.log(JSON.stringify(answer));
const steps = JSON.parse(await text(process.stdin));
const [command, ...args] = process.argv.slice(2);
const transport = new StdioClientTransport({ command, args, env: process.env, stderr: "inherit" });
const client = new Client({ name: "ts-client", version: "1.0" });
client.onerror = (error) => console.error("client:", error.message);

await client.connect(transport);
const { tools } = await client.listTools();
say({ server: client.getServerVersion(), instructions: client.getInstructions(), capabilities: client.getServerCapabilities(), tools });

for (const { tool, args } of steps) {
  try {
    say({ result: await client.callTool({ name: tool, arguments: args }) });
  } catch ({ code, message }) {
    say({ error: { code, message } });
  }
}

const { pid } = transport;
const begun = performance.now();
await client.close();
say({ closed_ms: Math.round(performance.now() - begun), gone: gone(pid) });

function gone(pid) {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

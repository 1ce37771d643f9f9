// How @hey-api/openapi-ts writes src/rest; scripts/sdk/generate runs it next to openapi.yaml.
export default {
  input: "../openapi.yaml",
  output: { path: "src/rest", module: { extension: ".js" } },
  plugins: [{ name: "@hey-api/client-fetch", throwOnError: true }, "@hey-api/typescript", "@hey-api/sdk"],
};

import{c as a,d as b,e as c}from"./part-DTV4H4PY.js";import"./part-XQ4KCMJG.js";import"./part-ZU5ATVV7.js";import"./part-BJAD5E2J.js";export{c as Tokens,b as scopes,a as sources};

import{c as a,d as b,e as c}from"./part-WAUKFHQG.js";import"./part-CP5ORCZE.js";import"./part-57YC7A2H.js";import"./part-UBI37T3M.js";export{c as Tokens,b as scopes,a as sources};
